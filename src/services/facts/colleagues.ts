import { nameKey } from '../../base/text/same-name.ts';
import type { ContextFacts } from './context-facts.ts';

/** Somebody the project knows as an agent, by whatever it has written down. */
export interface Colleague {
  id: string;
  names: string[];
  domain?: string;
  /** Where it is known: its file, the manifest, a table, a request, a learnings file. */
  known: string[];
  /** What others ask of it and nobody has done yet. */
  requests: { id: string; from: string; text: string }[];
}

/** The agents of a project: those it has described, then those it has only named. */
export function colleaguesIn(
  { agents, requests, handoffs }: Pick<ContextFacts, 'agents' | 'requests' | 'handoffs'>,
  learners: readonly string[],
  shown: (text: string) => string,
): Colleague[] {
  const found: Colleague[] = agents.map(({ id, name, tag, learnings, domain, known }) => ({
    id,
    names: [id, name, tag, learnings].filter((each) => each !== undefined),
    ...(domain === undefined ? {} : { domain }),
    known: [...known],
    requests: [],
  }));
  const named = (raw: string | undefined, where: string): Colleague | undefined => {
    const name = raw?.trim() ?? '';
    // A question mark stands for whoever will take it, and a star for all.
    if (!/^[\p{L}\p{N}]/u.test(name)) return undefined;
    const known = found.find(({ names }) => names.some((each) => nameKey(each) === nameKey(name)));
    const agent = known ?? { id: name, names: [name], known: [], requests: [] };
    if (known === undefined) found.push(agent);
    if (!agent.known.includes(where)) agent.known.push(where);
    return agent;
  };
  for (const { id, from, to, text, done } of [...requests, ...handoffs]) {
    named(from, 'request');
    const asked = named(to, 'request');
    if (!done) asked?.requests.push({ id, from, text: shown(text) });
  }
  for (const learner of learners) named(learner, 'learnings');
  return found;
}
