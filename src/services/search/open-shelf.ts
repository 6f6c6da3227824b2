import { onceWanted } from '../../base/async.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { ReadingReport } from '../../catalogue/kept-readings.ts';
import type { Embedder } from '../../meaning/vectors.ts';
import type { BmadRecord } from '../../model/record.ts';
import { type IndexCache, type KeptIndex, openKeptIndex, type ShelfIndex } from './kept-index.ts';
import { meaningIndex, meaningTable } from './meaning-index.ts';
import { type Analyse, wordTable } from './word-table.ts';
import { type AgentText, describedAgents, type RecordText, textsFrom } from './record-text.ts';
import { createShelf, type Shelf } from './shelf.ts';
import { WordIndex } from './word-index.ts';

interface ShelfSources {
  /** Stands for it among the shelves of a catalogue. */
  key: string;
  catalogue: Catalogue;
  records: readonly BmadRecord[];
  describe(agent: BmadRecord): Promise<AgentText>;
  embedder(): Promise<Embedder | undefined>;
  terms?: (() => Promise<Analyse>) | undefined;
  cache: IndexCache | undefined;
}

/** What is known of a shelf that has been opened. */
export interface OpenShelf {
  ask: Shelf;
  /** Indexes everything that has not been, and waits until it is kept for the next process. */
  complete(signal?: AbortSignal): Promise<ShelfReport>;
}

export interface ShelfReport {
  records: number;
  terms: number;
  vectors: number;
  /** Whether it was there from before. */
  restored: boolean;
  /** Whether it is there for the next process. */
  kept: boolean;
}

/** What there is of a project's content, made now or before. */
export interface Warmed {
  readings: readonly ReadingReport[];
  index: ShelfReport;
}

/** Records that are searched together, with the index that was made of them before, or a new one. */
export async function openShelf(sources: ShelfSources, making?: AbortSignal): Promise<OpenShelf> {
  const { catalogue, records, describe, embedder } = sources;
  const kept = await keptOf(sources);
  const restored = await kept?.restored();
  const described = restored?.described ?? (await describedAgents(records, describe, making));
  const textAt = textsFrom(catalogue, records, described);
  // Made once for both tables, and only for them: to keep thousands of texts would take more room than the index.
  let made: RecordText[] | undefined = restored === undefined ? [] : undefined;
  const indexed = (at: number): RecordText => {
    const text = made?.[at] ?? textAt(at);
    if (made !== undefined) made[at] = text;
    return text;
  };
  const table =
    restored?.words ?? (await wordTable(records.length, indexed, await sources.terms?.(), making));
  let vectors = restored?.meaning?.owners.length ?? 0;
  const meaning = onceWanted(async (signal) => {
    const model = await embedder();
    const index: ShelfIndex = {
      described,
      words: table,
      meaning:
        restored?.meaning ??
        (model === undefined ? undefined : await meaningTable(records.length, indexed, model, signal)),
    };
    made = undefined;
    if (restored === undefined) kept?.keep(index);
    vectors = index.meaning?.owners.length ?? 0;
    return model === undefined || index.meaning === undefined
      ? undefined
      : meaningIndex(records.length, index.meaning, model);
  });
  return {
    ask: createShelf({ records, textAt, words: new WordIndex(table), meaning }),
    async complete(signal) {
      await meaning(signal);
      const isWritten = (await kept?.written()) === true;
      return {
        records: records.length,
        terms: table.terms.length,
        vectors,
        restored: restored !== undefined,
        kept: restored !== undefined || isWritten,
      };
    },
  };
}

async function keptOf({
  key,
  catalogue,
  records,
  embedder,
  cache,
}: ShelfSources): Promise<KeptIndex | undefined> {
  if (cache === undefined || records.length < cache.fromRecords) return undefined;
  return openKeptIndex(cache, key, catalogue, records, (await embedder())?.id);
}
