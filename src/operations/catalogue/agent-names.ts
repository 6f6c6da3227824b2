import { BmadError, quoted } from '../../base/errors.ts';
import { nameKey } from '../../base/text/same-name.ts';
import { nearest } from '../../base/text/suggest.ts';
import type { CataloguePort, Context, ProjectFacts } from '../context.ts';

/** Whose memory is meant: the agents a name stands for, and everything they are called. */
export interface MeantAgent {
  ids: string[];
  names: string[];
}

/** A name becomes part of the name of a file, so it may not lead anywhere. */
export function checkedAgent(raw: string, subject = 'agent'): string {
  const agent = raw.normalize('NFC').trim();
  const wrong = agent === '' || agent.startsWith('.') || /[/\\:|]|\.\.|[\p{C}\u2028\u2029]/u.test(agent);
  if (!wrong && agent.length <= 100) return agent;
  throw new BmadError('invalid_input', `${quoted(raw)} is not a valid agent name.`, {
    subject,
    hint: 'Use a plain name such as "dev" or "architect", without slashes or a leading dot.',
  });
}

/** By any of its names: of its file, its tag, what it is called, its learnings file, or its name in BMAD. */
export async function meantAgent(
  raw: string,
  facts: ProjectFacts,
  context: Context,
  project: string | undefined,
): Promise<MeantAgent> {
  const agent = checkedAgent(raw);
  const own = await facts.agentsNamed(agent);
  if (own.length > 0)
    return {
      ids: own.map(({ id }) => id),
      names: [...new Set([agent, ...own.flatMap(({ names }) => names)])],
    };
  const learners = await facts.learners();
  const learner = learners.find((name) => name.toLowerCase() === agent.toLowerCase());
  const called = await bmadNames(agent, context, project);
  if (called.length > 0) {
    const alsoOwn = (await Promise.all(called.map((name) => facts.agentsNamed(name)))).flat();
    const names = [...called, ...alsoOwn.flatMap((each) => each.names)];
    return {
      ids: [...new Set([...alsoOwn.map(({ id }) => id), learner ?? called[0] ?? agent])],
      names: [...new Set([agent, ...(learner === undefined ? [] : [learner]), ...names])],
    };
  }
  if (learner !== undefined) return { ids: [learner], names: [learner] };
  const { entries } = await (await context.memory(project)).browse('agent-learnings', [agent]);
  if (entries.length > 0) return { ids: [agent], names: [agent] };
  const unseen = await agentWithoutFile(agent, facts, context);
  if (unseen !== undefined) return unseen;
  throw await unknown(agent, facts, context, project);
}

/** The names of an agent in the BMAD content; none when there is no such agent, or no content. */
async function bmadNames(
  agent: string,
  context: CataloguePort,
  project: string | undefined,
): Promise<string[]> {
  try {
    const { catalogue } = await context.workspace(project);
    const { record } = catalogue.names.resolve({ name: agent, kinds: ['agent'], fuzzy: false });
    const { name, displayName, aliases } = record;
    const all = [catalogue.names.handleOf(record), name, displayName ?? name, ...aliases];
    return [...new Set(all.filter((each) => each !== '' && !/[/\\]/.test(each)))];
  } catch (error) {
    if (error instanceof BmadError) return [];
    throw error;
  }
}

/** One that the project only names, in its team or in a request, or that an earlier version of BMAD had. */
async function agentWithoutFile(
  agent: string,
  facts: ProjectFacts,
  context: Context,
): Promise<MeantAgent | undefined> {
  const wanted = nameKey(agent);
  const colleague = (await facts.colleagues()).find(({ names }) =>
    names.some((name) => nameKey(name) === wanted),
  );
  const earlier = (await context.delegation()).earlier(agent);
  if (colleague === undefined && earlier === undefined) return undefined;
  const id = colleague?.id ?? earlier?.handle ?? agent;
  const names = [id, agent, ...(colleague?.names ?? []), ...(earlier === undefined ? [] : [earlier.handle])];
  return { ids: [id], names: [...new Set(names)] };
}

async function unknown(
  agent: string,
  facts: ProjectFacts,
  context: Context,
  project: string | undefined,
): Promise<BmadError> {
  const own = (await facts.colleagues()).map(({ id }) => id);
  const { catalogue } = await context.workspace(project);
  const bmad = catalogue.listed
    .filter(({ kind }) => kind === 'agent')
    .map((record) => catalogue.names.handleOf(record));
  const all = [...new Set([...own, ...bmad])];
  return new BmadError('not_found', `There is no agent ${quoted(agent)}.`, {
    subject: agent,
    suggestions: nearest(agent, [...all, ...(await context.delegation()).earlierAgents]),
    hint: `Agents: ${all.slice(0, 40).join(', ')}${all.length > 40 ? ', …' : ''}.`,
  });
}
