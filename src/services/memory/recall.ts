import { BmadError } from '../../base/errors.ts';
import type { MemoryEntry, MemoryFilter, MemoryHit, MemoryType } from '../../model/memory.ts';
import { sameAgent } from '../../kit/agents.ts';
import { lineText } from '../../kit/write.ts';
import { kitCandidates, type KitCandidate } from './kit-index.ts';
import { momentOf } from '../../base/local-time.ts';
import { dot, ranked, weighed } from './rank.ts';
import { shownText } from '../../base/secret-text.ts';
import { passes, readyFilter } from './select.ts';
import { embedded, type Session, type World } from './world.ts';

export interface Question {
  query: string;
  /** The same question in other words. */
  alternatives: readonly string[];
  types: readonly MemoryType[];
  agent?: string | undefined;
  tags: readonly string[];
  since?: string | undefined;
  until?: string | undefined;
  minScore?: number | undefined;
  limit: number;
  superseded: boolean;
}

interface Recalled extends MemoryHit {
  /** Files of the project that have it: the only place of it, unless `stored`. */
  sources: string[];
  stored: boolean;
  /** Which wording of the question found it, when it was not the first. */
  by?: string | undefined;
}

export interface Recall {
  hits: Recalled[];
  notes: string[];
}

/** What is known about a question, in the store and in the project's files, best first. */
export async function recall(
  world: World,
  question: Question,
  signal: AbortSignal | undefined,
): Promise<Recall> {
  try {
    return shown(await recallAll(world, question, signal), world);
  } catch (error) {
    if (!(error instanceof BmadError) || error.code !== 'unavailable') throw error;
    return shown(await fromFiles(world, question, error), world);
  }
}

/**
 * What is in files was written by hand or by other tools, which check nothing, and a shared store is filled by others
 * too. Masked last: copies are known by their text as it is.
 */
function shown({ hits, notes }: Recall, { hide }: World): Recall {
  const safe = (text: string): string => shownText(text, hide);
  return {
    hits: hits.map((hit) => ({
      ...hit,
      entry: {
        ...hit.entry,
        agent: safe(hit.entry.agent),
        text: safe(hit.entry.text),
        tags: hit.entry.tags.map(safe),
      },
    })),
    notes,
  };
}

/** When the store cannot be asked, the project's own files still can; without any, the error is the answer. */
async function fromFiles(world: World, question: Question, error: BmadError): Promise<Recall> {
  const kit = await kitCandidates(world, undefined);
  if (kit.length === 0) throw error;
  const filter = await filterOf(world, question);
  const limits = { limit: question.limit, minScore: question.minScore };
  const best = new Map<string, Recalled>();
  for (const wording of [question.query, ...question.alternatives])
    for (const hit of kitHits(kit, world.analyser.terms(wording), undefined, filter, limits)) keep(best, hit);
  return {
    hits: [...best.values()].sort(byScore).slice(0, question.limit),
    notes: [`DEGRADED, only the project's files were searched: ${error.text.replaceAll('\n\n', ' ')}`],
  };
}

async function recallAll(world: World, question: Question, signal: AbortSignal | undefined): Promise<Recall> {
  const session = await world.session(signal);
  const wordings = [question.query, ...question.alternatives];
  const { vectors, note } = await embedded(world, session, wordings, signal);
  const filter = await filterOf(world, question);
  const best = new Map<string, Recalled>();
  const room = question.limit * 2;
  const kit = await kitCandidates(world, session.embedder);
  for (const [index, wording] of wordings.entries()) {
    const terms = world.analyser.terms(wording);
    const vector = vectors[index];
    const by = index === 0 ? {} : { by: wording };
    const limits = { limit: room, minScore: question.minScore };
    const hits = await session.store.search({ terms, vector, filter, ...limits });
    for (const hit of hits) keep(best, { ...hit, sources: [], stored: true, ...by });
    for (const hit of kitHits(kit, terms, vector, filter, limits)) keep(best, { ...hit, ...by });
  }
  const weighty = [...best.values()].filter((hit) => question.minScore !== undefined || saysSomething(hit));
  const merged = await withoutCopies(weighty.sort(byScore), session, world, room);
  const weak = (merged[0]?.score ?? 1) < WEAK;
  return {
    hits: merged.slice(0, question.limit),
    notes: [
      ...(weak ? ['Weak hits only: perhaps nothing is known about that.'] : []),
      ...(note === undefined ? [] : [note]),
      ...session.troubles,
    ],
  };
}

async function filterOf({ files }: World, question: Question): Promise<MemoryFilter> {
  const { agent, since, until } = question;
  return {
    types: question.types,
    agents: agent === undefined ? undefined : sameAgent(await files.agents(), agent),
    tagsAll: question.tags,
    since: since === undefined ? undefined : momentOf(since, 'first'),
    until: until === undefined ? undefined : momentOf(until, 'last'),
    includeSuperseded: question.superseded,
  };
}

function keep(best: Map<string, Recalled>, hit: Recalled): void {
  const key = `${hit.entry.type}/${hit.entry.id}/${hit.stored ? '' : hit.sources.join()}`;
  const known = best.get(key);
  if (known === undefined || known.score < hit.score) best.set(key, hit);
}

/** Every vector is somehow near to every other; below this, without a common word, it is by chance. */
const LEAST_MEANING = 0.1;
/** Below this, the best hit is more likely chance than knowledge. */
const WEAK = 0.2;

function saysSomething({ matched, cosine }: Recalled): boolean {
  return matched.length > 0 || (cosine ?? 0) >= LEAST_MEANING;
}

function byScore(a: Recalled, b: Recalled): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.stored !== b.stored) return a.stored ? -1 : 1;
  return a.entry.createdAt > b.entry.createdAt ? -1 : 1;
}

/** The entries of files, weighed by the same rules as those of the store. */
function kitHits(
  kit: readonly KitCandidate[],
  terms: readonly string[],
  vector: Float32Array | undefined,
  filter: MemoryFilter,
  limits: { limit: number; minScore: number | undefined },
): Recalled[] {
  const { agents, ...rest } = filter;
  const ready = readyFilter(rest);
  const wanted = agents?.map((name) => name.toLowerCase());
  const bounded = filter.since !== undefined || filter.until !== undefined;
  const passing = kit.filter(
    ({ entry, names, dated }) =>
      passes(entry, ready) &&
      (dated || !bounded) &&
      (wanted === undefined || names.some((name) => wanted.includes(name.toLowerCase()))),
  );
  const frequency = new Map<string, number>();
  for (const candidate of passing)
    for (const term of new Set(candidate.terms)) frequency.set(term, (frequency.get(term) ?? 0) + 1);
  const words = weighed(terms, (term) => frequency.get(term) ?? 0, passing.length);
  const sources = new Map(passing.map((candidate) => [candidate.entry, place(candidate)]));
  const candidates = passing.map((candidate) => ({
    entry: candidate.entry,
    terms: candidate.terms,
    cosine:
      vector === undefined || candidate.vector === undefined
        ? undefined
        : dot(unit(vector), candidate.vector),
  }));
  return ranked(words, candidates, { compared: vector !== undefined, ...limits }).map((hit) => ({
    ...hit,
    sources: [sources.get(hit.entry) ?? ''],
    stored: false,
  }));
}

function place({ source, line }: KitCandidate): string {
  return line === undefined ? source : `${source}:${line}`;
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector);
  return length === 0 || Math.abs(length - 1) < 1e-6 ? vector : vector.map((value) => value / length);
}

/** A memory and its copies in files are one; and a copy of what was forgotten or superseded is not shown either. */
async function withoutCopies(
  hits: readonly Recalled[],
  { store }: Session,
  world: World,
  room: number,
): Promise<Recalled[]> {
  const kept: Recalled[] = [];
  const { superseded, forgotten } = await store.stats();
  for (const hit of hits) {
    if (kept.length >= room) break;
    const twin = kept.find((other) => sameText(other.entry, hit.entry));
    if (twin !== undefined) {
      absorb(twin, hit);
      continue;
    }
    if (!hit.stored && superseded + forgotten > 0 && (await isGone(hit.entry, store, world))) continue;
    kept.push(hit);
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

const LOOKED_AT = 5;

async function isGone(entry: MemoryEntry, store: Session['store'], world: World): Promise<boolean> {
  const hits = await store.search({
    terms: world.analyser.terms(entry.text).slice(0, 40),
    filter: { types: [entry.type], includeForgotten: true, includeSuperseded: true },
    limit: LOOKED_AT,
  });
  return hits.some(
    ({ entry: other }) =>
      (other.forgottenAt !== undefined || other.supersededAt !== undefined) && sameText(other, entry),
  );
}
