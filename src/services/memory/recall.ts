import { onceWanted } from '../../base/async.ts';
import { BmadError } from '../../base/errors.ts';
import { ours } from '../../base/expected.ts';
import { remembering } from '../../base/remembering.ts';
import { shownText } from '../../base/secrets/masking.ts';
import type { Step } from '../../base/step.ts';
import { identifiersAsked } from '../../meaning/identifiers.ts';
import { otherWordings, subjectWords, thingsMeant } from '../../meaning/wordings.ts';
import type { MemoryFilter, MemoryHit, MemoryType } from '../../model/memory.ts';
import { sameAgent } from '../../kit/agents.ts';
import { hasActivity, logActivity } from '../../kit/memories/activity.ts';
import { kitCandidates } from './kit-index.ts';
import { withoutCopies } from './recall-copies.ts';
import { byIdentifier, isFaint, LEAST_MEANING, NAME, TELLING_TERMS, WEAK } from './recall-identifiers.ts';
import { kitHits } from './recall-files.ts';
import { withContradicted } from './recall-beside.ts';
import { isAll, kindRecalled } from './recall-kind.ts';
import { newerFirst } from './recall-order.ts';
import { shownBy } from './shown.ts';
import { between } from './select.ts';
import { embedded, type OpenMemory } from './opened.ts';

export interface RecallQuestion {
  query: string;
  /** The same question in other words. */
  alternatives: readonly string[];
  types: readonly MemoryType[];
  /** One name of an agent stands for all that it has. */
  agent?: string | undefined;
  /** Several agents at once, beside that one. */
  agents?: readonly string[] | undefined;
  tags: readonly string[];
  since?: string | undefined;
  until?: string | undefined;
  minScore?: number | undefined;
  limit: number;
  superseded: boolean;
}

export interface Recalled extends MemoryHit {
  /** Files of the project that have it: the only place of it, unless `stored`. */
  sources: string[];
  stored: boolean;
  /** Which wording of the question found it, when it was not the first. */
  by?: string | undefined;
}

export interface Recall {
  hits: Recalled[];
  notes: string[];
  /** What to do where not everything could be searched. */
  steps?: readonly Step[];
}

/** What is known about a question, in the store and in the project's files, best first. */
export async function recall(
  opened: OpenMemory,
  question: RecallQuestion,
  signal?: AbortSignal,
): Promise<Recall> {
  // A store that does not answer keeps nobody who has left.
  const found = await onceWanted((stop) => answered(opened, question, stop))(signal);
  await logged(opened, question, found);
  // Masked last: copies are known by their text as it is.
  const safe = shownBy(opened);
  return {
    hits: found.hits.map((hit) => ({ ...hit, entry: safe.entry(hit.entry) })),
    notes: found.notes,
    steps: found.steps ?? [],
  };
}

interface Answered extends Recall {
  mode: 'semantic' | 'local';
}

async function answered(
  opened: OpenMemory,
  question: RecallQuestion,
  signal: AbortSignal,
): Promise<Answered> {
  const kind = await kindRecalled(opened, question);
  if (kind !== undefined) return { ...kind, mode: 'local' };
  return recallAll(opened, question, signal).catch(
    ours(
      async (error): Promise<Answered> => ({ ...(await fromFiles(opened, question, error)), mode: 'local' }),
      'unavailable',
    ),
  );
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
      agent: shownText(question.agent ?? '', hide),
      mode: found.mode,
      query: shownText(question.query, hide),
      hits: found.hits.length,
      top_score: Math.round((found.hits[0]?.score ?? 0) * 1000) / 1000,
    });
  } catch (error) {
    log.debug('a recall was not logged', { error: error instanceof Error ? error.message : '' });
  }
}

/** When the store cannot be asked, the project's own files still can; without any, the error is the answer. */
async function fromFiles(opened: OpenMemory, question: RecallQuestion, error: BmadError): Promise<Recall> {
  const kit = await kitCandidates(opened, undefined);
  if (kit.length === 0) throw error;
  const filter = await filterOf(opened, question);
  const limits = { limit: question.limit, minScore: question.minScore };
  const best = new Map<string, Recalled>();
  for (const wording of wordingsOf(question))
    for (const hit of kitHits(kit, opened.analyser.terms(subjectWords(wording)), undefined, filter, limits))
      keep(best, hit);
  return {
    hits: byIdentifier(question.query, [...best.values()].sort(byScore)).hits.slice(0, question.limit),
    notes: [`DEGRADED, only the project's files were searched: ${error.line}`],
    steps: error.steps,
  };
}

/** What was asked, in the words of the caller and in those of the other language. */
function wordingsOf({ query, alternatives }: RecallQuestion): string[] {
  return [...new Set([query, ...alternatives, ...otherWordings(query)])];
}

/** Of the things that a question may mean, as many as are searched for. */
const MOST_THINGS = 3;

/** The things a question may mean that are known at all, each with its terms. */
async function thingsKnown(
  { analyser }: OpenMemory,
  { query }: RecallQuestion,
  searched: (terms: readonly string[]) => Promise<Recalled[]>,
): Promise<[string, string[]][]> {
  const things = thingsMeant(query).map((thing): [string, string[]] => [thing, analyser.terms(thing)]);
  if (things.length === 0) return [];
  const found = new Set(
    (await searched(things.flatMap(([, terms]) => terms))).flatMap(({ matched }) => matched),
  );
  return things.filter(([, terms]) => terms.some((term) => found.has(term))).slice(0, MOST_THINGS);
}

async function recallAll(
  opened: OpenMemory,
  question: RecallQuestion,
  signal: AbortSignal | undefined,
): Promise<Answered> {
  const session = await opened.session(signal);
  const wordings = wordingsOf(question);
  const { vectors, note } = await embedded(opened, session, wordings, signal);
  const filter = await filterOf(opened, question);
  const best = new Map<string, Recalled>();
  const near = new Map<string, Recalled>();
  const room = question.limit * 2;
  const kit = await kitCandidates(opened, session.embedder);
  const limits = { limit: room, minScore: question.minScore };
  const searched = async (
    terms: readonly string[],
    vector?: (typeof vectors)[number],
  ): Promise<Recalled[]> => [
    ...(await session.store.search({ terms, vector, filter, ...limits })).map((hit) => ({
      ...hit,
      sources: [],
      stored: true,
    })),
    ...kitHits(kit, terms, vector, filter, limits),
  ];
  for (const [index, wording] of wordings.entries()) {
    const by = index === 0 ? {} : { by: wording };
    // What words that nobody has said are merely near to counts only where nothing better is found.
    const isOurs = index > question.alternatives.length;
    for (const hit of await searched(opened.analyser.terms(subjectWords(wording)), vectors[index]))
      keep(isOurs && hit.matched.length === 0 ? near : best, { ...hit, ...by });
  }
  // Each for itself: that a memory names one of them and not the others says nothing against it.
  for (const [thing, terms] of await thingsKnown(opened, question, searched))
    for (const hit of await searched(terms))
      if (isFaint(best.get(keyOf(hit)))) keep(best, { ...hit, by: thing });
  // Words that are everywhere, such as "1", must not hide the one memory that has all of an identifier.
  for (const id of identifiersAsked(question.query))
    for (const hit of await searched(opened.analyser.terms(id))) keep(best, hit);
  const isWeighty = ({ matched, cosine = 0 }: Recalled): boolean =>
    question.minScore !== undefined || matched.length > 0 || cosine >= LEAST_MEANING;
  const sure = [...best.values()].filter(isWeighty);
  const weighty = sure.length > 0 ? sure : [...near.values()].filter(isWeighty);
  const merged = await withoutCopies(weighty.sort(byScore), session, opened, room);
  const mode = vectors[0] === undefined ? 'local' : 'semantic';
  // Where little is known, even the very memory that is meant scores low; words in common tell more, and one is enough
  // where it is a name or half of what was asked.
  const asked = new Set(opened.analyser.terms(subjectWords(question.query)));
  const names = new Set(opened.analyser.terms((question.query.match(NAME) ?? []).join(' ')));
  const termsOf = remembering((text): readonly string[] => opened.analyser.terms(text));
  // In a long text one of two words may stand for anything.
  const isShort = ({ entry }: Recalled): boolean => termsOf(entry.text).length <= TELLING_TERMS;
  const isTelling = (hit: Recalled): boolean =>
    hit.matched.length >= 2 ||
    hit.matched.some(
      (term) =>
        names.has(term) || (asked.has(term) && (asked.size === 1 || (asked.size === 2 && isShort(hit)))),
    );
  const isWeak = (hit: Recalled): boolean => hit.score < WEAK[mode] && !isTelling(hit);
  const weak = merged.length > 0 && merged.every(isWeak) && !(await isAll(opened, question, merged.length));
  const placed = await withContradicted(merged, {
    limit: question.limit,
    terms: termsOf,
    about: async (terms) => withoutCopies(await searched(terms), session, opened, room),
  });
  const ordered = newerFirst(placed, termsOf, shownBy(opened).text);
  const exact = byIdentifier(question.query, ordered.hits);
  return {
    mode,
    hits: exact.hits.slice(0, question.limit),
    notes: [
      ...(exact.hits.length > 1 && ordered.note !== undefined ? [ordered.note] : []),
      ...exact.notes,
      ...(weak && exact.hits.length > 0
        ? ['All matches are weak: perhaps nothing is known about this.']
        : []),
      ...(note === undefined ? [] : [note]),
      ...session.troubles,
    ],
  };
}

async function filterOf({ files }: OpenMemory, question: RecallQuestion): Promise<MemoryFilter> {
  const { agent, agents = [], since, until } = question;
  const wanted = agent === undefined ? agents : [agent, ...agents];
  const known = wanted.length === 0 ? [] : await files.agents();
  return {
    types: question.types,
    agents: wanted.flatMap((name) => sameAgent(known, name)),
    tagsAll: question.tags,
    ...between(since, until),
    includeSuperseded: question.superseded,
  };
}

function keyOf({ entry, stored, sources }: Recalled): string {
  return `${entry.type}/${entry.id}/${stored ? '' : sources.join()}`;
}

function keep(best: Map<string, Recalled>, hit: Recalled): void {
  const key = keyOf(hit);
  const known = best.get(key);
  if (known === undefined || known.score < hit.score) best.set(key, hit);
}

function byScore(a: Recalled, b: Recalled): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.stored !== b.stored) return a.stored ? -1 : 1;
  return a.entry.createdAt > b.entry.createdAt ? -1 : 1;
}
