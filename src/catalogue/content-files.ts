import { once } from '../base/async.ts';
import { BmadError, quoted } from '../base/errors.ts';
import { contentUri } from '../base/paths.ts';
import type { Origin } from '../model/origin.ts';
import type { Source } from '../sources/source.ts';

export interface FoundFile {
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
  readonly #below = new Map<string, readonly string[]>();
  readonly #known: ReadonlyMap<Source, readonly string[]>;

  constructor(sources: readonly Source[], known: ReadonlyMap<Source, readonly string[]> = new Map()) {
    this.#sources = sources;
    this.#known = known;
    this.all = once(() => this.#collect());
  }

  /** The same, if somebody has asked for it before. */
  get known(): ReadonlyMap<string, Origin> | undefined {
    return this.#collected;
  }

  async read(path: string): Promise<FoundFile> {
    for (const { origin, tree } of this.#sources) {
      try {
        return { path, bytes: await tree.read(path), origin };
      } catch (error) {
        if (!(error instanceof BmadError) || error.code !== 'not_found') throw error;
      }
    }
    throw new BmadError('not_found', `There is no file ${quoted(contentUri(path))}.`, {
      subject: contentUri(path),
    });
  }

  /** The files in a folder and below it. */
  async below(folder: string): Promise<readonly string[]> {
    const known = this.#below.get(folder);
    if (known !== undefined) return known;
    const found = [...(await this.all()).keys()].filter((path) => path.startsWith(`${folder}/`));
    this.#below.set(folder, found);
    return found;
  }

  async #collect(): Promise<ReadonlyMap<string, Origin>> {
    const found = new Map<string, Origin>();
    for (const source of this.#sources) {
      const { origin, tree } = source;
      for (const path of this.#known.get(source) ?? (await tree.files()))
        if (!found.has(path)) found.set(path, origin);
    }
    this.#collected = new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
    return this.#collected;
  }
}
