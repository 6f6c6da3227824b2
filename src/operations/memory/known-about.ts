import { BmadError } from '../../base/errors.ts';
import type { Context } from '../context.ts';
import { toldLine } from './relation-view.ts';

const KNOWN = 5;
/** So many are looked at: some say the same, and are told once. */
const LOOKED_AT = 2 * KNOWN;
/** As long as a line of a brief may be. */
const LINE = 400;

/** What a project has decided, and learned the hard way, about a piece of work; one line each. */
export interface KnownAbout {
  decisions: string[];
  failures: string[];
}

/** The same for every brief, no matter who delegates the work; nothing where the project has no memory. */
export async function knownAbout(
  query: string,
  context: Context,
  project: string | undefined,
  signal: AbortSignal,
): Promise<KnownAbout> {
  try {
    const memory = await context.memory(project);
    // Where nothing is known, no model has to be loaded to search it.
    if (await memory.isEmpty()) return { decisions: [], failures: [] };
    const asked = {
      query: query.slice(0, 2_000),
      alternatives: [],
      tags: [],
      limit: LOOKED_AT,
      superseded: false,
    };
    const of = async (type: 'decisions' | 'failures') =>
      (await memory.recall({ ...asked, types: [type] }, signal)).hits;
    const facts = await (await context.state(project)).facts();
    const failures = (await memory.distinct(await of('failures'), signal)).slice(0, KNOWN).map((told) => {
      const { title, rule, lesson, fix } = facts.failureIn(told.entry.text, told.entry.tags);
      const [label, said] =
        rule !== undefined ? ['Rule', rule] : lesson !== undefined ? ['Lesson', lesson] : ['Fix', fix];
      return toldLine(told, LINE, said === undefined ? title : `${title}. ${label}: ${said}`);
    });
    const about = await of('decisions');
    let decisions = await memory.distinct(about, signal);
    // A worker keeps to what was decided whether or not the task speaks of it: the newest fill what is left.
    if (decisions.length < KNOWN) {
      const newest = (await memory.browse('decisions')).entries
        .filter(({ entry }) => !about.some((hit) => hit.entry.text === entry.text))
        .slice(0, LOOKED_AT);
      decisions = await memory.distinct([...about, ...newest], signal);
    }
    return { decisions: withOthers(decisions).map((told) => toldLine(told, LINE)), failures };
  } catch (error) {
    if (!(error instanceof BmadError) || error.code === 'cancelled') throw error;
    context.log.info(`no memories for the brief: ${error.message}`);
    return { decisions: [], failures: [] };
  }
}

/** The first of them; and what may contradict one of these, as the mark alone says too little. */
function withOthers<T extends { entry: { id: string }; against: readonly { id: string }[] }>(
  told: readonly T[],
): T[] {
  const first = told.slice(0, KNOWN);
  const named = new Set(first.flatMap(({ against }) => against.map(({ id }) => id)));
  return told.filter((each, index) => index < KNOWN || named.has(each.entry.id));
}
