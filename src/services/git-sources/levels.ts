import { join } from 'node:path';
import { sha256 } from '../../base/sha256.ts';
import { BmadError } from '../../base/errors.ts';
import { ours } from '../../base/expected.ts';
import { withLock } from '../../base/files/file-lock.ts';
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

const BUSY_MS = 10_000;

type Pinned = Pick<ConfiguredSource, 'address' | 'layer'>;

/** Where sources are named and pinned: those a project lists in the project, for everyone; all others for the user. */
export class Levels {
  readonly #parts: LevelParts;

  constructor(parts: LevelParts) {
    this.#parts = parts;
  }

  files(level: 'project' | 'user'): LevelFiles {
    const files = this.#parts[level];
    if (files !== undefined) return files;
    throw new BmadError('invalid_input', 'There is no project here to add a source to.', {
      hint: 'Go to the folder of a project, or name it with --project.',
      steps: [
        {
          operation: 'sources_add',
          args: { level: 'user' },
          open: ['source'],
          why: 'Or add it for yourself',
        },
      ],
    });
  }

  lockFile(layer: SourceLayer): string {
    return this.files(layer === 'project' ? 'project' : 'user').lock;
  }

  async pins(): Promise<PinsOfLevels> {
    const read = async (file: string | undefined): Promise<Pins | BmadError> =>
      file === undefined ? {} : readPins(file).catch(ours((error) => error));
    return { project: await read(this.#parts.project?.lock), user: await read(this.#parts.user.lock) };
  }

  /** Fails where the pins of a layer cannot be read: a damaged file must not be taken for an empty one. */
  async checkLock(layer: SourceLayer): Promise<void> {
    await readPins(this.lockFile(layer));
  }

  /** Replaces a pin. If it is no longer the one that the decision was made about, it stays. */
  async pin({ address, layer }: Pinned, before: Pin | undefined, after: Pin): Promise<void> {
    await this.#change(layer, (pins) => {
      if (pins[address.source]?.commit !== before?.commit)
        throw new BmadError('conflict', `${address.source} has just been approved by someone else.`, {
          subject: address.source,
          steps: [{ operation: 'sources_list', why: 'Look at it again' }],
        });
      pins[address.source] = after;
    });
  }

  /** Another process may have been first; its pin applies. */
  async pinFirst({ address, layer }: Pinned, pin: Pin): Promise<void> {
    await this.#change(layer, (pins) => {
      pins[address.source] ??= pin;
    });
  }

  async unpin({ address, layer }: Pinned): Promise<void> {
    await this.#change(layer, (pins) => {
      delete pins[address.source];
    });
  }

  /** Changes a configuration file while no other process of ours does. */
  async whileAlone(file: string, change: () => Promise<void>): Promise<void> {
    await withLock(this.#guard(file), { waitMs: BUSY_MS }, change);
  }

  async #change(layer: SourceLayer, change: (pins: Record<string, Pin>) => void): Promise<void> {
    const file = this.lockFile(layer);
    await changePins(file, this.#guard(file), change);
  }

  #guard(file: string): string {
    const key = sha256(file).slice(0, 32);
    return join(this.#parts.guards, `${key}.lock`);
  }
}
