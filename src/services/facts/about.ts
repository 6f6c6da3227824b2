import { basename } from 'node:path';
import { field, isTable, parseYaml, tableOf, textField, type Table } from '../../base/parse/parse.ts';
import type { ContextFacts } from './context-facts.ts';

/** What BMAD itself was set up with in a project, whatever version wrote it. */
export interface BmadValues {
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

/** Who and what a project is: the kit's files say it first, then BMAD's own, then the name of the folder. */
export function aboutProject(
  { kit, context, memoryConfig }: ContextFacts,
  { core, modules }: Pick<BmadValues, 'core' | 'modules'>,
) {
  const about = tableIn(context, 'project');
  const user = tableIn(context, 'user');
  const bmm = tableIn(modules, 'bmm');
  const installed = (name: string): string | undefined => set(memoryConfig, name) ?? set(core, name);
  return {
    project: {
      name: set(about, 'name') ?? set(core, 'project_name') ?? set(bmm, 'project_name') ?? basename(kit.root),
      description: set(about, 'description'),
      type: set(about, 'type'),
      stack: [field(about, 'stack')]
        .flat()
        .filter((each) => typeof each === 'string' || typeof each === 'number')
        .map(String),
      repos: listIn(about, 'repos').filter(isTable),
    },
    user: {
      name: set(user, 'name') ?? installed('user_name'),
      language: set(user, 'language') ?? installed('communication_language'),
      document_language: set(user, 'document_language') ?? installed('document_output_language'),
      skill_level: set(user, 'skill_level') ?? set(bmm, 'user_skill_level'),
    },
    kit_version: set(context, 'bmad_kit_version') ?? set(context, 'grimoire_kit_version'),
    archetype: set(tableIn(context, 'agents'), 'archetype'),
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

/** Values that the installer writes when nobody gives one. */
const TEMPLATE_VALUES = new Set(['', 'Description courte', 'À compléter', '—']);

function set(from: Table, name: string): string | undefined {
  const value = textField(from, name)?.trim();
  return value === undefined || TEMPLATE_VALUES.has(value) || /\{\{[^{}]*\}\}/.test(value)
    ? undefined
    : value;
}

export function tableIn(table: Table, name: string): Table {
  return tableOf(field(table, name));
}

export function listIn(table: Table, name: string): unknown[] {
  const value = field(table, name);
  return Array.isArray(value) ? value : [];
}
