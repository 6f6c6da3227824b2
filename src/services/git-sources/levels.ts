import { t } from '../../base/text/message.ts';
import { join } from 'node:path';
import { sha256 } from '../../base/sha256.ts';
import { BmadError } from '../../base/errors.ts';
import { ours } from '../../base/expected.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { readState, writeAtomic } from '../../base/files/file-state.ts';
import { withList } from '../../base/parse/toml-list.ts';
import type { ConfiguredSource, SourceLayer } from './configured.ts';
import { changePins, readPins, type Pin, type Pins } from './lock-file.ts';

/** The files of one level: a project shares them with its team, a user has them alone. */
export interface LevelFiles {
  config: string;
  lock: string;
  /** The folder that neither may lead out of: a project's files are written by others too. */
  inside?: string | undefined;
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
/** The key of configuration files that lists git sources. */
const LIST_KEY = 'git';

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
    throw new BmadError('invalid_input', t`There is no project here to add a source to.`, {
      hint: t`Go to the folder of a project, or name it with --project.`,
      steps: [
        {
          operation: 'sources_add',
          args: { level: 'user' },
          open: ['source'],
          why: t`Or add it for yourself`,
        },
      ],
    });
  }

  lockFile(layer: SourceLayer): string {
    return this.#filesOf(layer).lock;
  }

  #filesOf(layer: SourceLayer): LevelFiles {
    return this.files(layer === 'project' ? 'project' : 'user');
  }

  async pins(): Promise<PinsOfLevels> {
    const read = async (files: LevelFiles | undefined): Promise<Pins | BmadError> =>
      files === undefined ? {} : readPins(files.lock, files.inside).catch(ours((error) => error));
    return { project: await read(this.#parts.project), user: await read(this.#parts.user) };
  }

  /** Fails where the pins of a layer cannot be read: a damaged file must not be taken for an empty one. */
  async checkLock(layer: SourceLayer): Promise<void> {
    const { lock, inside } = this.#filesOf(layer);
    await readPins(lock, inside);
  }

  /** Replaces a pin. If it is no longer the one that the decision was made about, it stays. */
  async pin({ address, layer }: Pinned, before: Pin | undefined, after: Pin): Promise<void> {
    await this.#change(layer, (pins) => {
      if (pins[address.source]?.commit !== before?.commit)
        throw new BmadError('conflict', t`${address.source} has just been approved by someone else.`, {
          subject: address.source,
          steps: [{ operation: 'sources_list', why: t`Look at it again` }],
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

  /** Changes the list of sources in a configuration file, which is made when it is missing. */
  async changeList(
    level: 'project' | 'user',
    change: (list: readonly string[]) => readonly string[],
  ): Promise<void> {
    const { config, inside } = this.files(level);
    await withLock(this.#guard(config), { waitMs: BUSY_MS }, async () => {
      const text = (await readState(config, { inside, follow: true })) ?? '';
      const changed = withList(config, text, LIST_KEY, change);
      if (changed !== text) await writeAtomic(config, changed, { inside });
    });
  }

  async #change(layer: SourceLayer, change: (pins: Record<string, Pin>) => void): Promise<void> {
    const { lock, inside } = this.#filesOf(layer);
    await changePins(lock, this.#guard(lock), change, inside);
  }

  #guard(file: string): string {
    const key = sha256(file).slice(0, 32);
    return join(this.#parts.guards, `${key}.lock`);
  }
}
