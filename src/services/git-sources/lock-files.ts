import { basename, dirname, join } from 'node:path';
import { attempt, BmadError, orElse, ours } from '../../base/errors.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { isThereNow } from '../../base/files/file-stamps.ts';
import { isWritable, readState, writeAtomic } from '../../base/files/file-state.ts';
import { upwards } from '../../base/files/open-file.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { withList } from '../../base/parse/toml-list.ts';
import { t } from '../../base/text/message.ts';
import { isObject, sha256 } from '../../base/values.ts';
import { type GitAddress, parseGitAddress } from '../../sources/git/address.ts';
import type { ConfiguredSource, SourceLayer } from './configured.ts';

/** The files of one level: a project shares them with its team, a user has them alone. */
interface LevelFiles {
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

/**
 * The user's lock file is beside the configuration. A service has its configuration from somebody else, who lets it write
 * nothing there: where there is no lock file and none can be made, it is in the folder of the state.
 */
export async function lockInReach(beside: string, state: string): Promise<string> {
  const nearest = upwards(dirname(beside)).find(isThereNow) ?? dirname(beside);
  const canBe = isThereNow(beside) || (await isWritable(join(nearest, basename(beside))));
  return canBe ? beside : join(state, basename(beside));
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

/** The version of a source that is approved: exactly this commit, with exactly this content. */
export interface Pin {
  commit: string;
  digest: string;
  /** What kind of ref it was when it was approved: a different kind of the same name does not continue it. */
  kind?: string;
}

type Pins = Readonly<Record<string, Pin>>;

const FORMAT = 1;

/** The pins in a lock file; none if there is no file. A damaged file is reported and left unchanged. */
export async function readPins(file: string, inside?: string): Promise<Pins> {
  const text = await readState(file, { inside, follow: true });
  if (text === undefined) return {};
  const { version, sources } = jsonObject(text) ?? {};
  if (version === FORMAT && isObject(sources)) {
    const pins = Object.entries(sources as Record<string, Partial<Pin>>);
    if (pins.every(([, pin]) => isPin(pin))) return Object.fromEntries(pins) as Record<string, Pin>;
  }
  throw new BmadError('unavailable', t`The lock file ${file} is not valid; its git sources are not served.`, {
    subject: file,
    hint: t`Restore it from version control, or delete it and pin the sources again.`,
    steps: [{ operation: 'sources_update', why: t`Pin the sources again` }],
  });
}

function isPin(pin: unknown): pin is Pin {
  const { commit, digest } = (pin ?? {}) as Partial<Pin>;
  return /^[0-9a-f]{40,64}$/.test(commit ?? '') && /^sha256:[0-9a-f]{64}$/.test(digest ?? '');
}

/** Changes the pins in a lock file while no other process does. The order is fixed, so that files can be compared. */
export async function changePins(
  file: string,
  guard: string,
  change: (pins: Record<string, Pin>) => void,
  inside?: string,
): Promise<void> {
  await withLock(guard, { waitMs: BUSY_MS }, async () => {
    const pins = { ...(await readPins(file, inside)) };
    const before = JSON.stringify(pins);
    change(pins);
    if (JSON.stringify(pins) === before) return;
    const sources = Object.fromEntries(Object.entries(pins).sort(([a], [b]) => (a < b ? -1 : 1)));
    await writeAtomic(file, `${JSON.stringify({ version: FORMAT, sources }, null, 2)}\n`, { inside });
  });
}

export function parsedOr(text: string): GitAddress | undefined {
  return attempt(() => parseGitAddress(text), orElse(undefined));
}
