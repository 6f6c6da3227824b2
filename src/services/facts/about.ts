import { basename } from 'node:path';
import { field, isTable, parseYaml, type Table, tableOf } from '../../base/parse/parse.ts';
import { nameKey } from '../../base/text/suggest.ts';
import { givenValue } from '../../kit/configuration.ts';
import { type ContextFacts, listIn, tableIn } from './context-facts.ts';

/** What BMAD itself was set up with in a project, whatever version wrote it. */
interface BmadValues {
  /** The files the values come from. */
  from: string[];
  core: Table;
  modules: Table;
  /** `core-config.yaml` of version 4. */
  v4: Table;
}

/** The parts of the configuration in force, which is one document. */
export function bmadValues(text: string): BmadValues {
  const table = tableOf(parseYaml('config/current', text));
  return {
    from: listIn(table, 'from').map(String),
    core: tableIn(table, 'core'),
    modules: tableIn(table, 'modules'),
    v4: tableIn(table, 'core_config'),
  };
}

const STACK_SETTINGS = ['kubernetes', 'monitoring', 'cicd', 'security'];

/** Who and what a project is: what it sets for BMAD, wherever that is set, and the kit's page about the project. */
export function aboutProject(
  { kit, context, memoryConfig }: ContextFacts,
  settings: readonly { name: string; value: string }[],
) {
  const about = tableIn(context, 'project');
  const setting = (wanted: string): string | undefined =>
    settings.find(({ name }) => name === wanted)?.value.trim() || undefined;
  return {
    project: {
      name: setting('project_name') ?? basename(kit.root),
      description: givenValue(about, 'description'),
      type: givenValue(about, 'type'),
      stack: [field(about, 'stack')]
        .flat()
        .filter((each) => typeof each === 'string' || typeof each === 'number')
        .map(String),
      repos: listIn(about, 'repos').filter(isTable),
    },
    user: {
      name: setting('user_name'),
      language: setting('communication_language'),
      document_language: setting('document_output_language'),
      skill_level: setting('user_skill_level'),
    },
    kit_version: givenValue(context, 'bmad_kit_version') ?? givenValue(context, 'grimoire_kit_version'),
    archetype: givenValue(tableIn(context, 'agents'), 'archetype'),
    settings: Object.fromEntries(
      STACK_SETTINGS.filter((name) => field(context, name) !== undefined).map((name) => [
        name,
        field(context, name),
      ]),
    ),
    infrastructure: field(context, 'infrastructure'),
    memory: { ...tableIn(context, 'memory'), ...memoryConfig },
  };
}

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
