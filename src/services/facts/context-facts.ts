import { t } from '../../base/text/message.ts';
import { join, basename } from 'node:path';
import { attempt, expected, unlessShort } from '../../base/errors.ts';
import { listInside, pathExists } from '../../base/files/files.ts';
import {
  csvRows,
  field,
  parseYaml,
  type Table,
  tableOf,
  textField,
  isTable,
} from '../../base/parse/parse.ts';
import { compare } from '../../base/text/text.ts';
import { maskSecretValues } from '../../base/secrets/scanner.ts';
import { agentIds, readKitAgents, type KitAgent } from '../../kit/agents.ts';
import {
  type AgentRequest,
  type ContextSection,
  contextSections,
  requestsIn,
  teamIn,
} from '../../kit/session/context-sections.ts';
import { type Handoff, HANDOFF_FILE, handoffsIn, isTwin, requestId } from '../../kit/session/handoffs.ts';
import { inProject, type Kit, type KitWithMemory } from '../../kit/kit.ts';
import { textToRead } from '../../kit/text.ts';
import { emptyPage, SHARED_CONTEXT_FILE } from '../../kit/memories/entries.ts';
import { lastSession, type SessionState } from '../../kit/session/session-state.ts';
import { nameKey } from '../../base/text/suggest.ts';
import { givenValue } from '../../kit/configuration.ts';

export function tableIn(table: Table, name: string): Table {
  return tableOf(field(table, name));
}

function listIn(table: Table, name: string): unknown[] {
  const value = field(table, name);
  return Array.isArray(value) ? value : [];
}

interface AgentFacts {
  id: string;
  name?: string | undefined;
  tag?: string | undefined;
  /** The name of its learnings file, without extension. */
  learnings?: string | undefined;
  icon?: string | undefined;
  domain?: string | undefined;
  note?: string | undefined;
  /** Where it is known: its file, the manifest, the table of the shared context, project-context.yaml. */
  known: ('file' | 'manifest' | 'shared-context' | 'project-context')[];
}

/** What a project's own files say about it. Whatever is missing is missing here too, and told where that matters. */
export interface ContextFacts {
  kit: Kit;
  /** project-context.yaml as it is, secrets masked; empty when there is none. */
  context: Table;
  sections: ContextSection[];
  agents: AgentFacts[];
  archetypes: { id: string; installed?: string | undefined }[];
  /** Without those that a row of the log repeats. */
  requests: AgentRequest[];
  handoffs: Handoff[];
  session: SessionState | undefined;
  /** `_memory/config.yaml`. */
  memoryConfig: Table;
  /** Files of no fixed form that some projects keep, as paths in the project. */
  notes: string[];
  warnings: string[];
  /** Those of the warnings that only say what nobody has filled in yet. */
  mild: string[];
}

const LOOSE_NOTES = [
  'dependency-graph.md',
  'network-topology.md',
  'oss-references.md',
  'knowledge-digest.md',
];

/** `places` are where sessions and handoffs are, the one in use first. */
export async function readContextFacts(
  kit: Kit,
  places: readonly [KitWithMemory, ...KitWithMemory[]],
  lined: readonly Handoff[] = [],
): Promise<ContextFacts> {
  const warnings = [...kit.problems];
  const { path, value, isBroken } = kit.page;
  const context = maskSecretValues(tableOf(value)) as Table;
  if (path !== undefined && isBroken !== true && Object.keys(context).length === 0)
    warnings.push(t`${path} is empty, probably because an installation was interrupted.`);
  const [pages, ...others] = places;
  const shared = await textToRead(pages, SHARED_CONTEXT_FILE, warnings);
  if (shared !== undefined) warnings.push(...emptyPage(shared, inProject(kit, SHARED_CONTEXT_FILE)));
  const sections = contextSections(shared ?? '');
  const requests = requestsIn(sections, requestId);
  const handoffs = handoffsIn((await textToRead(pages, HANDOFF_FILE, warnings)) ?? '');
  for (const other of others) {
    const asked = contextSections((await textToRead(other, SHARED_CONTEXT_FILE, warnings)) ?? '');
    requests.push(...notYetIn(requests, requestsIn(asked, requestId)));
    const log = await textToRead(other, HANDOFF_FILE, warnings);
    handoffs.push(...notYetIn(handoffs, handoffsIn(log ?? '')));
  }
  handoffs.push(
    ...lined.toSorted((one, other) => compare(one.date, other.date) || compare(one.id, other.id)),
  );
  const known = await readKitAgents(kit);
  const idOf = agentIds(known);
  const facts: ContextFacts = {
    kit,
    context,
    sections,
    agents: await agentFacts(kit, known, context, sections, warnings),
    archetypes: await archetypesOf(kit, warnings),
    requests: requests.filter((request) => !handoffs.some((handoff) => isTwin(request, handoff, idOf))),
    handoffs,
    session: (await lastSession(places, warnings))?.session,
    memoryConfig: await yamlOf(kit, `${kit.folder}/_memory/config.yaml`, warnings),
    notes: await looseNotes(kit),
    warnings,
    mild: [],
  };
  // An install of BMAD itself has a memory folder too, and none of the kit's files.
  const isKit =
    path !== undefined ||
    shared !== undefined ||
    (await pathExists(join(kit.root, kit.folder, '_config/custom/agents')));
  if (isKit) tellMissing(facts, path, shared);
  return facts;
}

/** A move that was cut short has left some in both places. */
function notYetIn<T extends { id: string }>(known: readonly T[], found: readonly T[]): T[] {
  const ids = new Set(known.map(({ id }) => id));
  return found.filter(({ id }) => !ids.has(id));
}

function tellMissing(
  { kit, context, sections, warnings, mild }: ContextFacts,
  path: string | undefined,
  shared: string | undefined,
): void {
  if (kit.memory === undefined) return;
  const tell = (text: string): void => {
    warnings.push(text);
    mild.push(text);
  };
  if (path === undefined) tell(t`There is no project-context.yaml.`);
  if (shared === undefined) warnings.push(t`There is no ${inProject(kit, SHARED_CONTEXT_FILE)}.`);
  const open = sections.filter(({ text, topic }) => text === '' && topic !== 'requests');
  if (open.length > 0)
    tell(
      t`${inProject(kit, SHARED_CONTEXT_FILE)} has sections not filled in: ${open.map(({ title }) => title).join(', ')}.`,
    );
  const archetype = textField(tableIn(context, 'agents'), 'archetype');
  const type = textField(tableIn(context, 'project'), 'type');
  if (type === 'infrastructure' && archetype !== undefined && archetype !== 'infra-ops')
    tell(t`project.type is "infrastructure", the installer's default, but the archetype is ${archetype}.`);
}

const warned = (warnings: string[]) => expected(({ message }) => void warnings.push(message));

async function yamlOf(kit: Kit, path: string, warnings: string[]): Promise<Table> {
  const text = await textToRead(kit, path, warnings, kit.root);
  if (text === undefined) return {};
  return maskSecretValues(tableOf(attempt(() => parseYaml(path, text), warned(warnings)))) as Table;
}

async function archetypesOf(kit: Kit, warnings: string[]): Promise<ContextFacts['archetypes']> {
  const table = await yamlOf(kit, `${kit.folder}/_config/installed-archetypes.yaml`, warnings);
  return listIn(table, 'installed').flatMap((each) => {
    const id = textField(tableOf(each), 'id');
    return id === undefined ? [] : [{ id, installed: textField(tableOf(each), 'installed_at') }];
  });
}

async function agentFacts(
  kit: Kit,
  own: readonly KitAgent[],
  context: Table,
  sections: readonly ContextSection[],
  warnings: string[],
): Promise<AgentFacts[]> {
  const found = new Map<string, AgentFacts>();
  const add = (id: string, where: AgentFacts['known'][number], about: Partial<AgentFacts> = {}): void => {
    const known = found.get(id) ?? { id, known: [] };
    const told = Object.entries(about).filter(([, value]) => value !== undefined && value !== '');
    // What is known first stays: the agent's own file says it best.
    found.set(id, { ...Object.fromEntries(told), ...known, known: [...known.known, where] });
  };
  for (const { id, display, tag, learnings } of own) add(id, 'file', { name: display, tag, learnings });
  for (const name of await manifestNames(kit, warnings)) add(name, 'manifest');
  for (const { id, ...about } of teamIn(sections)) add(id, 'shared-context', about);
  for (const each of listIn(tableIn(context, 'agents'), 'custom_agents')) {
    const table = tableOf(each);
    const id = typeof each === 'string' ? each : textField(table, 'name');
    if (id !== undefined)
      add(id, 'project-context', { icon: textField(table, 'icon'), domain: textField(table, 'domain') });
  }
  return [...found.values()];
}

async function manifestNames(kit: Kit, warnings: string[]): Promise<string[]> {
  const path = `${kit.folder}/_config/agent-manifest.csv`;
  const text = await textToRead(kit, path, warnings, kit.root);
  const rows = text === undefined ? [] : (attempt(() => csvRows(path, text), warned(warnings)) ?? []);
  return [...new Set(rows.map(({ cell }) => cell('name').trim()).filter((name) => name !== ''))];
}

async function looseNotes(kit: Kit): Promise<string[]> {
  if (kit.memory === undefined) return [];
  const names = new Set((await listInside(kit.memory, '').catch(unlessShort([]))).map(({ name }) => name));
  return LOOSE_NOTES.filter((name) => names.has(name)).map((name) => inProject(kit, name));
}

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
    // A question mark means whoever takes it, a star means everybody.
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
