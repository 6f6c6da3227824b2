import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import type { ConfiguredSource, SourceLayer } from './configured.ts';
import { changePins, readPins, type Pin, type Pins } from './lock-file.ts';

/** The files of one level: a project shares them with its team, a user has them alone. */
export interface LevelFiles {
  config: string;
  lock: string;
}

export interface LevelParts {
  user: LevelFiles;
  /** Nothing outside of a project. */
  project: LevelFiles | undefined;
  /** Folder for the locks that keep two processes from changing one file. */
  guards: string;
}

/** The pins of each level, or why they cannot be read: that costs the sources pinned there, and no others. */
export type PinsOfLevels = Record<'project' | 'user', Pins | BmadError>;

type Pinned = Pick<ConfiguredSource, 'address' | 'layer'>;

/** Where sources are named and pinned: those a project lists in the project, for everybody; all others for the user. */
export class Levels {
  readonly #parts: LevelParts;

  constructor(parts: LevelParts) {
    this.#parts = parts;
  }

  files(level: 'project' | 'user'): LevelFiles {
    const files = this.#parts[level];
    if (files !== undefined) return files;
    throw new BmadError('invalid_input', 'There is no project here that could have a source of its own.', {
      hint: 'Go to the folder of a project, name it with --project, or add the source for yourself with --level user.',
    });
  }

  lockFile(layer: SourceLayer): string {
    return this.files(layer === 'project' ? 'project' : 'user').lock;
  }

  async pins(): Promise<PinsOfLevels> {
    const read = async (file: string | undefined): Promise<Pins | BmadError> => {
      try {
        return file === undefined ? {} : await readPins(file);
      } catch (error) {
        if (error instanceof BmadError) return error;
        throw error;
      }
    };
    return { project: await read(this.#parts.project?.lock), user: await read(this.#parts.user.lock) };
  }

  /** Fails where the pins of a layer cannot be read: a damaged file must not be taken for an empty one. */
  async checkLock(layer: SourceLayer): Promise<void> {
    await readPins(this.lockFile(layer));
  }

  async pin({ address, layer }: Pinned, { commit, digest }: Pin): Promise<void> {
    await this.#change(layer, (pins) => {
      pins[address.source] = { commit, digest };
    });
  }

  /** Another process may have been the first; its pin stands. */
  async pinFirst({ address, layer }: Pinned, { commit, digest }: Pin): Promise<void> {
    await this.#change(layer, (pins) => {
      pins[address.source] ??= { commit, digest };
    });
  }

  async unpin({ address, layer }: Pinned): Promise<void> {
    await this.#change(layer, (pins) => {
      delete pins[address.source];
    });
  }

  async #change(layer: SourceLayer, change: (pins: Record<string, Pin>) => void): Promise<void> {
    const file = this.lockFile(layer);
    const key = createHash('sha256').update(file).digest('hex').slice(0, 32);
    await changePins(file, join(this.#parts.guards, `${key}.lock`), change);
  }
}
