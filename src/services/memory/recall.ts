import { t } from '../../base/text/message.ts';
import { onceWanted } from '../../base/async.ts';
import { BmadError, ours } from '../../base/errors.ts';
import { shownText } from '../../base/secrets/scanner.ts';
import type { Step } from '../../base/step.ts';
import { identifiersAsked, identifiersIn, isIdentifier, namesOne } from '../../meaning/words.ts';
import { dot, normalized } from '../../meaning/vectors.ts';
import { otherWordings, subjectWords, thingsMeant } from '../../meaning/lexicon.ts';
import type { MemoryEntry, MemoryHit } from '../../model/memory.ts';
import { hasActivity, logActivity, lineText } from '../../kit/memories/write.ts';
import { nameKey } from '../../base/text/suggest.ts';
import type { MemoryQuery } from './engine.ts';
import {
  embedded,
  type KitCandidate,
  kitCandidates,
  type Known,
  type OpenMemory,
  shownBy,
} from './opened.ts';
import { filterOf, passes, readyFilter, searchedAmong, type Selection } from './rank.ts';
import type { Answer } from './store.ts';

export interface RecallQuestion extends Omit<Selection, 'all'> {
  query: string;
  alternatives?: readonly string[] | undefined;
  minScore?: number | undefined;
  limit: number;
  /** Only what has something in common with the question, also of what a filter takes. */
  related?: boolean | undefined;
}

type Recalled = MemoryHit & Known;

export interface Recall {
  hits: Recalled[];
  notes: string[];
  steps?: readonly Step[];
}

/** What is known about a question, in the store and in the project's files, best first. */
export async function recall(
  opened: OpenMemory,
  question: RecallQuestion,
  signal?: AbortSignal,
): Promise<Recall> {
  // A store that does not answer keeps nobody who has left.
  const found = await onceWanted((stop) =>
    recallAll(opened, question, stop).catch(
      ours((error) => fromFiles(opened, question, error), 'unavailable'),
    ),
  )(signal);
  await logged(opened, question, found);
  // Masked last: copies are known by their text as it is.
  const safe = shownBy(opened);
  return { ...found, hits: found.hits.map((hit) => ({ ...hit, entry: safe.entry(hit.entry) })) };
}

interface Answered extends Recall {
  mode: 'semantic' | 'local';
}

/** The kit counts what its memory is asked; where it keeps such a log, it learns of our questions too. */
async function logged(
  { files, hide, writes, log }: OpenMemory,
  question: RecallQuestion,
  found: Answered,
): Promise<void> {
  const { memory } = files.kit;
  if (!writes || memory === undefined) return;
  try {
    if (!(await hasActivity(memory))) return;
    await logActivity(memory, {
      cmd: 'recall',
      agent: shownText(question.agents?.[0] ?? '', hide),
      mode: found.mode,
      query: shownText(question.query, hide),
      hits: found.hits.length,
      top_score: Math.round((found.hits[0]?.score ?? 0) * 1000) / 1000,
    });
  } catch (error) {
    log.debug(t`a recall was not logged`, { error: error instanceof Error ? error.message : '' });
  }
}

/** When the store cannot be asked, the project's own files still can; without any, the error is the answer. */
async function fromFiles(opened: OpenMemory, question: RecallQuestion, error: BmadError): Promise<Answered> {
  const kit = await kitCandidates(opened, undefined);
  if (kit.length === 0) throw error;
  const hits = kitHits(kit, asked(opened, question, undefined));
  return {
    mode: 'local',
    hits: byIdentifier(question.query, hits.sort(byScore)).hits.slice(0, question.limit),
    notes: [t`DEGRADED, only the project's files were searched: ${error.line}`],
    steps: error.steps,
  };
}

function wordingsOf({ query, alternatives = [] }: RecallQuestion): string[] {
  return [...new Set([query, ...alternatives, ...otherWordings(query)])];
}

/** More than are shown: entries of files may be copies of them, and what names an identifier comes first. */
const LEAST_ROOM = 25;

/** The one question for the store and for files: every way to say it, names of what is meant, and identifiers. */
function asked(opened: OpenMemory, question: RecallQuestion, vector: Float32Array | undefined): MemoryQuery {
  const { query, minScore, agents = [], tags = [], since, until } = question;
  const filter = filterOf(question);
  const ways = [
    ...wordingsOf(question).map(subjectWords),
    ...thingsMeant(query),
    // Words that are everywhere, such as "1", must not hide the one memory that has all of an identifier.
    ...identifiersAsked(query),
  ].map((way) => opened.analyser.terms(way));
  const isFiltered =
    agents.length + tags.length > 0 || [filter.types, since, until].some((each) => each !== undefined);
  return {
    terms: [...new Set(ways.flat())],
    ways,
    vector,
    filter,
    limit: Math.max(LEAST_ROOM, question.limit * 2),
    minScore,
    all: isFiltered && minScore === undefined && question.related !== true,
  };
}

/** Every vector is somehow near to every other; below this, without a common word, it is by chance. */
const LEAST_MEANING = 0.1;

const isRelated = ({ matched, cosine = 0 }: MemoryHit): boolean =>
  matched.length > 0 || cosine >= LEAST_MEANING;

async function recallAll(
  opened: OpenMemory,
  question: RecallQuestion,
  signal: AbortSignal | undefined,
): Promise<Answered> {
  const session = await opened.session();
  const { vectors, notes } = await embedded(opened, session, wordingsOf(question), signal);
  const query = asked(opened, question, middleOf(vectors));
  const inFiles = kitHits(await kitCandidates(opened, session.embedder), query);
  const found =
    inFiles.length > 0
      ? await session.store.searchBesideFiles(query)
      : { hits: await session.store.search(query), isBehind: undefined };
  const stored = found.hits.map((hit): Recalled => ({ ...hit, sources: [], stored: true }));
  // What is only faintly like it comes last, and the reader judges.
  const hits = [...stored, ...inFiles].filter((hit) => question.related !== true || isRelated(hit));
  const merged = withoutCopies(hits.sort(byScore), found.isBehind, query.limit);
  const exact = byIdentifier(question.query, merged);
  return {
    mode: query.vector === undefined ? 'local' : 'semantic',
    hits: exact.hits.slice(0, question.limit),
    notes: [...exact.notes, ...notes, ...session.notes, ...session.troubles],
  };
}

/** What several wordings of one question mean together; the caller's own counts twice as much as all others. */
function middleOf(vectors: readonly (Float32Array | undefined)[]): Float32Array | undefined {
  const [first, ...others] = vectors.filter((vector) => vector !== undefined).map(normalized);
  const own = Math.max(1, 2 * others.length);
  return first?.map((value, at) => others.reduce((sum, other) => sum + (other[at] ?? 0), own * value));
}

function byScore(a: Recalled, b: Recalled): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.stored !== b.stored) return a.stored ? -1 : 1;
  return a.entry.createdAt > b.entry.createdAt ? -1 : 1;
}

/**
 * An identifier means one thing: what names it comes first, and where nothing else was asked for, alone. What merely
 * shares its letters, such as the story before it, would be taken for the answer.
 */
function byIdentifier(query: string, hits: readonly Recalled[]): { hits: Recalled[]; notes: string[] } {
  const wanted = identifiersIn(query);
  if (wanted.length === 0) return { hits: [...hits], notes: [] };
  const isNamed = ({ entry }: Recalled): boolean => namesOne([entry.text, ...entry.tags].join('\n'), wanted);
  const named = hits.filter(isNamed);
  const others = isIdentifier(query) ? [] : hits.filter((hit) => !isNamed(hit));
  const told = identifiersAsked(query).map((id) => id.toUpperCase());
  return {
    hits: [...named, ...others],
    notes: named.length > 0 ? [] : [t`Nothing here names ${told.join(' or ')}.`],
  };
}

/** The entries of files, weighed by the same rules as those of the store. */
function kitHits(kit: readonly KitCandidate[], query: MemoryQuery): Recalled[] {
  const { vector, filter } = query;
  const { agents, ...rest } = filter;
  const ready = readyFilter(rest);
  const wanted = agents === undefined || agents.length === 0 ? undefined : agents.map(nameKey);
  const bounded = filter.since !== undefined || filter.until !== undefined;
  const passing = kit.filter(
    (each) =>
      passes(each.entry, ready) &&
      (!bounded || each.dated) &&
      (wanted === undefined || each.from.names.some((name) => wanted.includes(nameKey(name)))),
  );
  const sources = new Map(passing.map(({ entry, place }) => [entry, place]));
  const aim = vector === undefined ? undefined : normalized(vector);
  const candidates = passing.map((each) => ({
    entry: each.entry,
    terms: each.said.terms(),
    cosine: aim === undefined || each.said.vector === undefined ? undefined : dot(aim, each.said.vector),
  }));
  return searchedAmong(query, candidates).map((hit) => ({
    ...hit,
    sources: [sources.get(hit.entry) ?? ''],
    stored: false,
  }));
}

/** A memory and its copies in files are one, and what the store is ahead of is not shown. */
function withoutCopies(
  hits: readonly Recalled[],
  isBehindStore: Answer['isBehind'],
  most: number,
): Recalled[] {
  const kept: Recalled[] = [];
  for (const hit of hits) {
    // Two memories of the store with the same text have separate ids, by which each is changed.
    const twin = kept.find((other) => !(other.stored && hit.stored) && sameText(other.entry, hit.entry));
    if (twin !== undefined) absorb(twin, hit);
    else if (kept.length < most && (hit.stored || isBehindStore?.(hit.entry) !== true)) kept.push(hit);
  }
  return kept;
}

function absorb(twin: Recalled, hit: Recalled): void {
  twin.sources.push(...hit.sources.filter((source) => !twin.sources.includes(source)));
  // What the store has says more: the agent that wrote it, tags, the id to change it by.
  if (!hit.stored || twin.stored) return;
  twin.entry = hit.entry;
  twin.stored = true;
}

function sameText(a: MemoryEntry, b: MemoryEntry): boolean {
  return a.type === b.type && (a.id === b.id || lineText(a.text) === lineText(b.text));
}
