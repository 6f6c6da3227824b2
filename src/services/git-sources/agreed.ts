import { mapLimited } from '../../base/async.ts';
import type { DecidedBy, Decision, Decisions } from '../../model/decision.ts';
import type { GitAddress } from '../../sources/git/address.ts';
import type { ConfiguredSource } from './configured.ts';
import { parsedOr, type Pin } from './lock-file.ts';

/** What people on this machine have decided, by project. */
export interface AgreedBook {
  of(root: string): Decisions;
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
  readonly #here: Decisions | undefined;

  constructor(book: AgreedBook, root: string | undefined) {
    this.#book = book;
    this.#here = root === undefined ? undefined : book.of(root);
  }

  /** The user's own lock file says it for what the user lists. */
  async to({ layer, address }: ConfiguredSource): Promise<Pin | 'locked' | undefined> {
    if (layer !== 'project') return 'locked';
    const decided = await this.#here?.last('source', address.source);
    const commit = decided?.parts?.['commit'];
    return decided?.yes !== true || commit === undefined ? undefined : { commit, digest: decided.digest };
  }

  async agree({ layer, address }: ConfiguredSource, pin: Pin, by: string, via: DecidedBy): Promise<void> {
    if (layer !== 'project') return;
    const about = { kind: 'source', id: address.source, digest: pin.digest } as const;
    await this.#here?.decide({ ...about, yes: true, by, via, parts: { commit: pin.commit } });
  }

  /** Changes with each decision about a source of the project, in this process or another. */
  async at(): Promise<string> {
    const decided = [...((await this.#here?.all('source')) ?? new Map<string, Decision>()).values()];
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
}
