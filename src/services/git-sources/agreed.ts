import { mapLimited } from '../../base/async.ts';
import type { DecidedBy, Decisions } from '../../model/decision.ts';
import type { GitAddress } from '../../sources/git/address.ts';
import type { ConfiguredSource } from './configured.ts';
import { parsedOr, type Pin } from './lock-file.ts';

/** What people on this machine have decided, by project; what is about no project is about their own sources. */
export interface AgreedBook {
  of(root: string | undefined): Decisions;
  projects(): Promise<string[]>;
}

export interface SourceCopy {
  address: GitAddress;
  commit: string;
}

const AT_ONCE = 4;

/**
 * Which version of a source a person on this machine has agreed to. A project's lock file is written by others too, so it
 * says what the team has, and this says what is served here. Being in the cache for another reason is no consent.
 */
export class AgreedSources {
  readonly #book: AgreedBook;
  readonly #root: string | undefined;

  constructor(book: AgreedBook, root: string | undefined) {
    this.#book = book;
    this.#root = root;
  }

  /** The user's own lock file says it for what the user lists. */
  async to(source: ConfiguredSource): Promise<Pin | 'locked' | undefined> {
    if (source.layer !== 'project') return 'locked';
    const decided = await this.#about(source).last('source', source.address.source);
    const commit = decided?.parts?.['commit'];
    return decided?.yes !== true || commit === undefined ? undefined : { commit, digest: decided.digest };
  }

  async agree(source: ConfiguredSource, { commit, digest }: Pin, by: string, via: DecidedBy): Promise<void> {
    const about = {
      kind: 'source',
      id: source.address.source,
      digest,
      yes: true,
      parts: { commit },
    } as const;
    await this.#about(source).decide({ ...about, by, via });
  }

  /** Changes with each decision about a source of the project, in this process or another. */
  async at(): Promise<string> {
    const decided = [...(await this.#book.of(this.#root).all('source')).values()];
    return decided.map(({ id, at }) => `${id} ${at}`).join(' ');
  }

  /** The versions that are served in any project. */
  async everywhere(): Promise<SourceCopy[]> {
    const decided = await mapLimited(await this.#book.projects(), AT_ONCE, async (root) => [
      ...(await this.#book.of(root).all('source')).values(),
    ]);
    return decided.flat().flatMap(({ id, parts }) => {
      const [address, commit] = [parsedOr(id), parts?.['commit']];
      return address === undefined || commit === undefined ? [] : [{ address, commit }];
    });
  }

  #about({ layer }: Pick<ConfiguredSource, 'layer'>): Decisions {
    return this.#book.of(layer === 'project' ? this.#root : undefined);
  }
}
