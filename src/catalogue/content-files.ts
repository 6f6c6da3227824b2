import { once, onceEach } from '../base/async.ts';
import { attempt, BmadError, broken, quoted } from '../base/errors.ts';
import { contentUri } from '../base/files/paths.ts';
import { parseYaml } from '../base/parse/parse.ts';
import { t } from '../base/text/message.ts';
import { decodeText, encodingOf } from '../base/text/text.ts';
import { behaviourOf, type BmadRecord, type Origin } from '../model/record.ts';
import type { Source } from '../sources/tree.ts';

interface FoundFile {
  path: string;
  bytes: Buffer;
  origin: Origin;
}

/** Any file of any origin by its content path; the origin of the highest rank that has it wins, file by file. */
export class ContentFiles {
  readonly #sources: readonly Source[];
  /** Every content path with the origin it would be read from, sorted by path. */
  readonly all: () => Promise<ReadonlyMap<string, Origin>>;

  #collected: ReadonlyMap<string, Origin> | undefined;
  readonly #listOf: (source: Source) => Promise<readonly string[]>;
  readonly #preferring = new Map<Origin, ContentFiles>();

  constructor(
    sources: readonly Source[],
    known:
      | ReadonlyMap<Source, readonly string[]>
      | ((source: Source) => Promise<readonly string[]>) = new Map(),
  ) {
    this.#sources = sources;
    // The known list, or one walk. A walk that fails is not kept.
    this.#listOf =
      typeof known === 'function'
        ? known
        : onceEach(async (source: Source) => known.get(source) ?? source.tree.files());
    this.all = once(() => this.#collect());
  }

  /** The same, if it has been requested before. */
  get known(): ReadonlyMap<string, Origin> | undefined {
    return this.#collected;
  }

  /** The files of one source; each is walked once. */
  of(source: Source): Promise<readonly string[]> {
    return this.#listOf(source);
  }

  /**
   * The same files as seen from one origin: its own files are read from it, whatever its rank. Two teams may both have
   * an `agents/reviewer.md`, and each agent uses its own files. No tree is walked a second time.
   */
  preferring(origin: Origin): ContentFiles {
    const own = this.#sources.find((source) => source.origin === origin);
    if (own === undefined || own === this.#sources[0]) return this;
    const known = this.#preferring.get(origin);
    if (known !== undefined) return known;
    const others = this.#sources.filter((source) => source !== own);
    const preferring = new ContentFiles([own, ...others], this.#listOf);
    this.#preferring.set(origin, preferring);
    return preferring;
  }

  /** The files of these origins alone. */
  only(origins: ReadonlySet<Origin>): ContentFiles {
    return new ContentFiles(
      this.#sources.filter(({ origin }) => origins.has(origin)),
      this.#listOf,
    );
  }

  /** The same and the files of these sources, which come after all others. */
  plus(added: ReadonlyMap<Source, readonly string[]>): ContentFiles {
    return new ContentFiles(
      [...this.#sources, ...added.keys()],
      async (source) => added.get(source) ?? this.#listOf(source),
    );
  }

  async read(path: string): Promise<FoundFile> {
    for (const { origin, tree } of this.#sources) {
      try {
        return { path, bytes: await tree.read(path), origin };
      } catch (error) {
        if (!(error instanceof BmadError) || error.code !== 'not_found') throw error;
      }
    }
    throw new BmadError('not_found', t`There is no file ${quoted(contentUri(path))}.`, {
      subject: contentUri(path),
    });
  }

  /** The files in a folder and below it. */
  readonly below = onceEach(async (folder: string): Promise<readonly string[]> =>
    [...(await this.all()).keys()].filter((path) => path.startsWith(`${folder}/`)),
  );

  async #collect(): Promise<ReadonlyMap<string, Origin>> {
    const found = new Map<string, Origin>();
    for (const source of this.#sources) {
      for (const path of await this.#listOf(source)) if (!found.has(path)) found.set(path, source.origin);
    }
    this.#collected = new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
    return this.#collected;
  }
}

export interface FileFault {
  message: string;
  /** Nobody can follow such a file, so it is not started. */
  halts?: true;
}

/** What is wrong with the main file of a record, whatever generation it is of. */
export function fileFaults(
  record: Pick<BmadRecord, 'kind' | 'format' | 'bmadRelativePath'>,
  bytes: Uint8Array,
): FileFault[] {
  const { bmadRelativePath: file } = record;
  const text = decodeText(bytes);
  if (text.trim() === '') return [{ message: t`${file}: the file is empty`, halts: true }];
  const faults: FileFault[] = [];
  if (encodingOf(bytes) !== 'utf-8')
    faults.push({ message: t`${file}: the file is UTF-16; it is read, but other tools expect UTF-8` });
  const isYaml =
    /\.ya?ml$/i.test(file) && (behaviourOf(record).needsEngine === true || record.format === 'v4-workflow');
  if (isYaml) {
    const wrong = attempt(
      () => void parseYaml(file, text),
      broken((error) => error.message, file),
    );
    if (typeof wrong === 'string') faults.push({ message: wrong, halts: true });
  }
  return faults;
}
