import type { Embedder } from '../../src/meaning/vectors.ts';
import { isListed, STARTABLE, type BmadRecord } from '../../src/model/record.ts';
import { agentText } from '../../src/app/served-workspace.ts';
import type { Workspace } from '../../src/operations/context.ts';
import type { AgentText } from '../../src/services/search/record-text.ts';
import { createSearch } from '../../src/services/search/search.ts';
import { installAlone } from '../support/install-project.ts';
import type { Version } from '../support/installs.ts';
import { isRight, LABELLED, sentencesOf, type Part, type Sentence } from './labelled.ts';

export interface Install<V extends Version = (typeof LABELLED)[number]> {
  version: V;
  catalogue: Workspace['catalogue'];
  /** What can be started, which is what is searched. */
  records: readonly BmadRecord[];
  describe(agent: BmadRecord): Promise<AgentText>;
}

/** A way of searching one install: the records for a sentence, best first. */
export type Way = (install: Install) => Promise<(sentence: string) => Promise<readonly BmadRecord[]>>;

/** Where the first right record stood for one sentence, from 0; nothing where it was not found. */
export interface Place {
  version: Install['version'];
  sentence: Sentence;
  at: number | undefined;
}

export interface Figures {
  sentences: number;
  hit1: number;
  hit3: number;
  /** Mean of 1 / place. */
  mrr: number;
}

/** The installs that the sentences are about, with nothing of the built-in content beside them. */
export async function openInstalls(): Promise<Install[]>;
export async function openInstalls<V extends Version>(versions: readonly V[]): Promise<Install<V>[]>;
export async function openInstalls(versions: readonly Version[] = LABELLED): Promise<Install<Version>[]> {
  const installs: Install<Version>[] = [];
  for (const version of versions) {
    const context = await installAlone(version);
    const { catalogue, delivery } = await context.workspace();
    installs.push({
      version,
      catalogue,
      records: catalogue.winners.filter((record) => STARTABLE.includes(record.kind) && isListed(record)),
      describe: (agent) => agentText(agent, delivery),
    });
  }
  return installs;
}

/** The search as it is served; with no embedder, by words alone. */
export function searching(embedder: Embedder | undefined): Way {
  return async ({ catalogue, describe }) => {
    const search = createSearch({ catalogue, describe, embedder: async () => embedder });
    return async (words) =>
      (await search.find({ words, kinds: STARTABLE, takes: () => true })).map(({ record }) => record);
  };
}

export async function placesOf(installs: readonly Install[], part: Part, way: Way): Promise<Place[]> {
  const places: Place[] = [];
  for (const install of installs) {
    const find = await way(install);
    for (const sentence of sentencesOf(install.version, part)) {
      const found = (await find(sentence.text)).findIndex((record) => isRight(record, sentence.right));
      places.push({ version: install.version, sentence, at: found === -1 ? undefined : found });
    }
  }
  return places;
}

export function figuresOf(places: readonly Place[]): Figures {
  const share = (count: number): number => count / Math.max(1, places.length);
  return {
    sentences: places.length,
    hit1: share(places.filter(({ at }) => at === 0).length),
    hit3: share(places.filter(({ at }) => at !== undefined && at < 3).length),
    mrr: share(places.reduce((sum, { at }) => sum + (at === undefined ? 0 : 1 / (at + 1)), 0)),
  };
}
