import { localDay, oneLine } from '../../base/text/text.ts';
import { t } from '../../base/text/message.ts';
import type { MemoryEntry } from '../../model/memory.ts';
import { BmadError } from '../../base/errors.ts';
import type { Context } from '../context.ts';

const KNOWN = 5;
/** So many are looked at: some have the same text, and are told once. */
const LOOKED_AT = 2 * KNOWN;
/** As long as a line of a brief may be. */
const LINE = 400;

/** What a project has decided, and learned the hard way, about a piece of work; one line each. */
export interface KnownAbout {
  decisions: string[];
  failures: string[];
}

/** The same for every brief, no matter who delegates the work; nothing where the project has no memory. */
export async function knownAbout(query: string, context: Context, signal: AbortSignal): Promise<KnownAbout> {
  try {
    const memory = await context.memory();
    // Where nothing is known, no model has to be loaded to search it.
    if (await memory.isEmpty()) return { decisions: [], failures: [] };
    const [decisions, failures] = await Promise.all([
      decisionsIn(memory, query, signal),
      failuresIn(memory, query, context, signal),
    ]);
    return { decisions, failures };
  } catch (error) {
    if (!(error instanceof BmadError) || error.code === 'cancelled') throw error;
    context.log.info(`no memories for the brief: ${error.message}`);
    return { decisions: [], failures: [] };
  }
}

type Memory = Awaited<ReturnType<Context['memory']>>;

const askedFor = (query: string) => ({ query: query.slice(0, 2_000), limit: LOOKED_AT, related: true });

async function decisionsIn(memory: Memory, query: string, signal: AbortSignal): Promise<string[]> {
  const about = (await memory.recall({ ...askedFor(query), type: 'decisions' }, signal)).hits;
  let decisions = await memory.distinct(about, signal);
  // A worker keeps to what was decided whether or not the task speaks of it: the newest fill what is left.
  if (decisions.length < KNOWN) {
    const newest = (await memory.browse('decisions', undefined, { most: 2 * LOOKED_AT })).entries
      .filter(({ entry }) => !about.some((hit) => hit.entry.text === entry.text))
      .slice(0, LOOKED_AT);
    decisions = await memory.distinct([...about, ...newest], signal);
  }
  return withOthers(decisions).map((told) => toldLine(told, LINE));
}

/** A lesson of the project holds for all work: so many are told, whether or not the task resembles them. */
const FAILURES_AT_LEAST = 2;

/** What went wrong before: where it resembles a piece of work, then the newest; one line each, with the rule to keep. */
export async function failuresAbout(query: string, context: Context, signal: AbortSignal): Promise<string[]> {
  const memory = await context.memory();
  return (await memory.isEmpty()) ? [] : failuresIn(memory, query, context, signal);
}

async function failuresIn(
  memory: Memory,
  query: string,
  context: Context,
  signal: AbortSignal,
): Promise<string[]> {
  const about = (await memory.recall({ ...askedFor(query), type: 'failures' }, signal)).hits;
  let told = await memory.distinct(about, signal);
  if (told.length < FAILURES_AT_LEAST) {
    const newest = (await memory.browse('failures', undefined, { most: 2 * LOOKED_AT })).entries
      .filter(({ entry }) => !about.some((hit) => hit.entry.text === entry.text))
      .slice(0, FAILURES_AT_LEAST);
    told = (await memory.distinct([...about, ...newest], signal)).slice(0, FAILURES_AT_LEAST);
  }
  const facts = await (await context.state()).facts();
  return told.slice(0, KNOWN).map((each) => {
    const { title, rule, lesson, fix } = facts.failureIn(each.entry.text, each.entry.tags);
    const [label, said] =
      rule !== undefined ? ['Rule', rule] : lesson !== undefined ? ['Lesson', lesson] : ['Fix', fix];
    return toldLine(each, LINE, said === undefined ? title : `${title}. ${label}: ${said}`);
  });
}

/** The first of them; and what is about the same as one of these, as the mark alone says too little. */
function withOthers<T extends { entry: { id: string }; against: readonly { id: string }[] }>(
  told: readonly T[],
): T[] {
  const first = told.slice(0, KNOWN);
  const named = new Set(first.flatMap(({ against }) => against.map(({ id }) => id)));
  return told.filter((each, index) => index < KNOWN || named.has(each.entry.id));
}

/** The others are beside it, and name it. */
const NAMED = 2;

interface Distinct {
  entry: MemoryEntry;
  also: number;
  against: readonly { id: string; age?: 'newer' | 'older' | undefined }[];
}

/** What is to be known about something that is told: how often it is recorded, and what else is about the same. */
function toldMarks({ entry, also, against }: Distinct): string {
  const dated = entry.updatedAt.startsWith('1970') ? [] : [localDay(new Date(entry.updatedAt))];
  const about = [
    ...(against.length === 0 ? [] : [`id ${entry.id}`, ...dated]),
    ...(also === 0 ? [] : [t`also recorded ×${also}`]),
  ].join(', ');
  const others = (['newer', 'older', undefined] as const).flatMap((wanted) => {
    const ids = against.filter(({ age }) => age === wanted).map(({ id }) => `id ${id}`);
    if (ids.length === 0) return [];
    const more = ids.length - NAMED;
    const named = `${ids.slice(0, NAMED).join(', ')}${more > 0 ? t` and ${more} more` : ''}`;
    if (wanted === undefined) return [named];
    if (wanted === 'newer')
      return [ids.length === 1 ? t`${named}, which is newer` : t`${named}, which are newer`];
    return [ids.length === 1 ? t`${named}, which is older` : t`${named}, which are older`];
  });
  return [
    ...(about === '' ? [] : [`(${about})`]),
    ...(others.length === 0 ? [] : [t`About the same as ${others.join('; ')}.`]),
  ].join(' ');
}

/** The same on one line with its text, which is cut where both have no room. */
export function toldLine(told: Distinct, most: number, text = told.entry.text): string {
  const marks = toldMarks(told);
  return marks === ''
    ? oneLine(text, most)
    : `${oneLine(text, Math.max(80, most - marks.length - 1))} ${marks}`;
}
