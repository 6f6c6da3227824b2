import { basename } from 'node:path';
import { field, isTable, parseYaml, tableOf, type Table } from '../../base/parse/parse.ts';
import { givenValue } from '../../kit/given-value.ts';
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

export function tableIn(table: Table, name: string): Table {
  return tableOf(field(table, name));
}

export function listIn(table: Table, name: string): unknown[] {
  const value = field(table, name);
  return Array.isArray(value) ? value : [];
}
