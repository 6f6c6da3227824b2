import { BmadError } from '../../base/errors.ts';
import type { Context } from '../context.ts';

const KNOWN = 5;

/** What a project has decided, and learned the hard way, about a piece of work. */
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
      limit: KNOWN,
      superseded: false,
    };
    const of = async (type: 'decisions' | 'failures') => {
      const { hits } = await memory.recall({ ...asked, types: [type] }, signal);
      return hits.map(({ entry }) => entry);
    };
    const facts = await (await context.state(project)).facts();
    const failures = (await of('failures')).map(({ text, tags }) => {
      const { title, rule, lesson, fix } = facts.failureIn(text, tags);
      const [label, told] =
        rule !== undefined ? ['Rule', rule] : lesson !== undefined ? ['Lesson', lesson] : ['Fix', fix];
      return told === undefined ? title : `${title}. ${label}: ${told}`;
    });
    const about = (await of('decisions')).map(({ text }) => text);
    // A worker keeps to what was decided whether or not the task speaks of it: the newest fill what is left.
    const newest = about.length < KNOWN ? (await memory.browse('decisions')).entries : [];
    const decisions = [...new Set([...about, ...newest.map(({ entry }) => entry.text)])].slice(0, KNOWN);
    return { decisions, failures };
  } catch (error) {
    if (!(error instanceof BmadError) || error.code === 'cancelled') throw error;
    context.log.info(`no memories for the brief: ${error.message}`);
    return { decisions: [], failures: [] };
  }
}
