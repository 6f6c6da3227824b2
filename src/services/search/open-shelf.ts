import { onceWanted } from '../../base/async.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { ReadingReport } from '../../catalogue/kept-readings.ts';
import type { Embedder } from '../../meaning/vectors.ts';
import type { BmadRecord } from '../../model/record.ts';
import { type IndexCache, type KeptIndex, openKeptIndex, type ShelfIndex } from './kept-index.ts';
import { meaningIndex, meaningTable } from './meaning-index.ts';
import { type Analyse, tableOf, type Terms, termsOfAll, WordIndex } from './word-index.ts';
import { type AgentText, describedAgents, type RecordText, textsFrom } from './record-text.ts';
import { createShelf, type Shelf } from './shelf.ts';

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
  const { whole, before } = (await kept?.restored()) ?? {};
  const described =
    whole?.described ?? (await describedAgents(records, describe, making, before?.described.bind(before)));
  const textAt = textsFrom(catalogue, records, described);
  // Made once for all that needs them now: to keep thousands of texts would take more room than the index.
  let made: { texts: RecordText[]; places: (number | undefined)[] } | undefined =
    whole === undefined ? { texts: [], places: [] } : undefined;
  const indexed = (at: number): RecordText => {
    const text = made?.texts[at] ?? textAt(at);
    if (made !== undefined) made.texts[at] = text;
    return text;
  };
  const placeOf = (at: number): number | undefined => {
    if (before === undefined || made === undefined) return undefined;
    if (!(at in made.places)) made.places[at] = before.at(indexed(at));
    return made.places[at];
  };
  const termsBefore = (at: number): Terms | undefined => {
    const place = placeOf(at);
    return place === undefined ? undefined : before?.terms(place);
  };
  let terms =
    whole === undefined
      ? await termsOfAll(records.length, indexed, await sources.terms?.(), termsBefore, making)
      : undefined;
  const table = whole?.words ?? tableOf(terms ?? []);
  let vectors = whole?.meaning?.owners.length ?? 0;
  const meaning = onceWanted(async (signal) => {
    const model = await embedder();
    const known = before?.index.meaning;
    const index: ShelfIndex = {
      described,
      words: table,
      meaning:
        whole?.meaning ??
        (model === undefined
          ? undefined
          : await meaningTable(
              records.length,
              indexed,
              model,
              signal,
              known === undefined ? undefined : { table: known, at: placeOf },
            )),
    };
    if (terms !== undefined && made !== undefined) kept?.keep(index, terms, made.texts);
    made = undefined;
    terms = undefined;
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
        restored: whole !== undefined,
        kept: whole !== undefined || isWritten,
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
