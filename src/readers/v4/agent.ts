import { field, isTable, type Table } from '../../base/parse/parse.ts';
import { t } from '../../base/text/message.ts';
import type { Problem } from '../../model/record.ts';
import {
  parseTable,
  pickValue,
  plainText,
  scalarField,
  scalarText,
  sectionOf,
  unquoted,
} from './yaml-text.ts';

/** An agent of version 4. A missing id is the file name, a missing name the id; other texts may be empty. */
interface V4Agent {
  id: string;
  name: string;
  title: string;
  icon: string;
  whenToUse: string;
  /** Role, style, identity, principles, if it has them. */
  persona?: Table;
  /** Names by folder as the agent writes them, with or without an extension; `dependencyFile` finds the file. */
  dependencies: Record<string, string[]>;
}

/** Reads an agent however damaged its file is. */
export function readV4Agent(file: string, text: string): { agent: V4Agent; problem?: Problem } {
  const clean = plainText(text);
  const block = yamlBlock(clean);
  const { table, problem } = parseTable(file, block ?? '');
  if (problem !== undefined) return { agent: salvaged(file, block ?? ''), problem };
  if (isTable(field(table, 'agent')) || scalarField(table, 'name') !== undefined) {
    return { agent: agentOf(file, table) };
  }
  const message = t`The file has no YAML block that describes an agent.`;
  return { agent: salvaged(file, block ?? clean), problem: { file, message } };
}

/** Each may go to the end of the file, which is not looked at for every one of thousands. */
const BLOCKS_TRIED = 50;

/**
 * The first fenced YAML block that has an agent in it, else the first of all. The lines before it are kept as empty
 * ones, so that errors name the line of the file. A block that is never closed goes to the end of the file.
 */
function yamlBlock(text: string): string | undefined {
  const blocks: { start: number; content: string }[] = [];
  for (const match of text.matchAll(/^([ \t]*)(`{3,}|~{3,})[ \t]*ya?ml\b.*\n/gim)) {
    const [opening, indent = '', fence = ''] = match;
    const start = match.index + opening.length;
    const end = text.indexOf(`\n${indent}${fence}`, start - 1);
    blocks.push({ start, content: text.slice(start, end === -1 ? undefined : end + 1) });
    if (blocks.length === BLOCKS_TRIED) break;
  }
  const block = blocks.find(({ content }) => /^[ \t]*agent:/m.test(content)) ?? blocks[0];
  if (block === undefined) return undefined;
  const linesBefore = text.slice(0, block.start).split('\n').length - 1;
  return '\n'.repeat(linesBefore) + block.content;
}

function agentOf(file: string, table: Table): V4Agent {
  const nested = field(table, 'agent');
  const agent = isTable(nested) ? nested : table;
  return {
    ...identity(file, (key) => scalarField(agent, key)),
    ...personaOf(field(table, 'persona')),
    dependencies: dependenciesOf(field(table, 'dependencies')),
  };
}

/** One wrong line spoils the whole block for a parser, though rarely more than one section of it is wrong. */
function salvaged(file: string, block: string): V4Agent {
  const section = (key: string): { text: string; value: unknown; bad: boolean } => {
    const text = sectionOf(block, key) ?? '';
    const { table, problem } = parseTable(file, text);
    return { text: text.trimStart(), value: field(table, key), bad: problem !== undefined };
  };
  const agent = section('agent');
  const dependencies = section('dependencies');
  const known = isTable(agent.value) ? agent.value : {};
  const search = agent.text === '' ? block : agent.text;
  return {
    ...identity(file, (key) => scalarField(known, key) ?? pickValue(search, key)),
    ...personaOf(section('persona').value),
    dependencies: dependencies.bad
      ? dependenciesInLines(dependencies.text)
      : dependenciesOf(dependencies.value),
  };
}

function personaOf(value: unknown): Pick<V4Agent, 'persona'> {
  return isTable(value) ? { persona: value } : {};
}

function identity(
  file: string,
  valueOf: (key: string) => string | undefined,
): Omit<V4Agent, 'persona' | 'dependencies'> {
  const id = valueOf('id') ?? stemOf(file);
  return {
    id,
    name: valueOf('name') ?? id,
    title: valueOf('title') ?? '',
    icon: valueOf('icon') ?? '',
    whenToUse: valueOf('whenToUse') ?? valueOf('description') ?? '',
  };
}

/** The file name without its extension. */
export function stemOf(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1).replace(/\.[^.]+$/, '');
}

/**
 * The file that an agent means by a dependency, among the files of its BMAD folder. Agents leave the extension out or
 * give that of an earlier version (`greenfield-ui.md` for a workflow that is YAML now).
 */
export function dependencyFile(files: readonly string[], type: string, name: string): string | undefined {
  const exact = `${type}/${name}`;
  if (files.includes(exact)) return exact;
  const stem = exact.replace(/\.(?:md|ya?ml|txt|csv|json)$/i, '');
  return files.find((file) => file.replace(/\.[^./]+$/, '') === stem);
}

/** What an agent depends on, by folder. There may be one name instead of a list, and a list instead of a table. */
function dependenciesOf(value: unknown): Record<string, string[]> {
  const tables = Array.isArray(value) ? value.filter(isTable) : isTable(value) ? [value] : [];
  const found = new Map<string, string[]>();
  for (const table of tables) {
    for (const type of Object.keys(table)) {
      found.set(type, [...(found.get(type) ?? []), ...namesIn(field(table, type))]);
    }
  }
  return Object.fromEntries(found);
}

/** The dependencies in a section that is not YAML. */
function dependenciesInLines(section: string): Record<string, string[]> {
  const found = new Map<string, string[]>();
  let names: string[] | undefined;
  for (const line of section.split('\n').slice(1)) {
    const type = /^\s+([\w-]+):\s*(?:#.*)?$/.exec(line)?.[1];
    const name = /^\s+-\s+(\S.*)$/.exec(line)?.[1];
    if (type !== undefined) found.set(type, (names = []));
    else if (name !== undefined) names?.push(unquoted(name));
  }
  return Object.fromEntries(found);
}

function namesIn(value: unknown): string[] {
  if (isTable(value)) return Object.keys(value);
  if (Array.isArray(value)) return value.flatMap(namesIn);
  const name = scalarText(value);
  return name === undefined ? [] : [name];
}
