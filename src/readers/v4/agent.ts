import { field, isTable, type Table } from '../../base/parse/parse.ts';
import { t } from '../../base/text/message.ts';
import { insideQuotes, withoutEnd } from '../../base/text/text.ts';
import type { Problem } from '../../model/record.ts';
import {
  indentOf,
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
  commands: V4Command[];
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
    commands: commandsOf(field(table, 'commands')),
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
  const commands = section('commands');
  const dependencies = section('dependencies');
  const known = isTable(agent.value) ? agent.value : {};
  const search = agent.text === '' ? block : agent.text;
  return {
    ...identity(file, (key) => scalarField(known, key) ?? pickValue(search, key)),
    ...personaOf(section('persona').value),
    commands: commands.bad ? commandsInLines(commands.text) : commandsOf(commands.value),
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
): Omit<V4Agent, 'persona' | 'commands' | 'dependencies'> {
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

/** One line of an agent's menu. The name may hold arguments: `create-doc {template}`. */
interface V4Command {
  name: string;
  description: string;
}

/** The commands of an agent: a list of one-key tables, a list of texts, a table, or a mixture of these. */
export function commandsOf(value: unknown): V4Command[] {
  if (isTable(value)) return fromTable(value);
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => {
    if (isTable(item)) return fromTable(item);
    const text = scalarText(item);
    return text === undefined ? [] : [fromText(text)];
  });
}

/** The commands in a section that is not YAML, such as `- "*help" - Show commands`, which early versions shipped. */
function commandsInLines(section: string): V4Command[] {
  const lines = section
    .split('\n')
    .filter((line) => /^\s*[^\s#]/.test(line))
    .slice(1);
  const indent = lines.reduce((least, line) => Math.min(least, indentOf(line)), Infinity);
  return lines
    .filter((line) => indentOf(line) === indent)
    .map((line) => fromText(line.trim().replace(/^-\s+/, '')))
    .filter(({ name }) => name !== '');
}

function fromTable(table: Table): V4Command[] {
  const name = scalarField(table, 'name') ?? scalarField(table, 'command');
  const description = scalarField(table, 'description');
  if (name !== undefined && description !== undefined) return [{ name: bareName(name), description }];
  return Object.entries(table).map(([key, value]) => ({ name: bareName(key), description: inWords(value) }));
}

/** `*help - Show commands`, with a stray quote in many shipped files: `*help" - Show commands`. */
function fromText(text: string): V4Command {
  // A name has a character at least.
  const [parts] = text.slice(1).matchAll(/\s[-–—]\s|:(?:\s|$)/g);
  const end = parts === undefined ? text.length : parts.index + 1;
  const description = text.slice(end + (parts?.[0].length ?? 0)).trim();
  return { name: bareName(text.slice(0, end)), description: insideQuotes(description, `"'`) };
}

/** Commands are written with an asterisk when they are given, which is not part of their name. */
function bareName(name: string): string {
  return withoutEnd(name.replace(/^["'`*\s]+/, ''), `"'\` \t\r\n`);
}

/** Some commands have a list of steps where others have a sentence; the steps' names are enough for a menu. */
function inWords(value: unknown): string {
  if (Array.isArray(value)) {
    const names = value.map((step) => (isTable(step) ? Object.keys(step).join(', ') : scalarText(step)));
    return names.filter(Boolean).join(', ');
  }
  if (isTable(value)) return scalarField(value, 'description') ?? Object.keys(value).join(', ');
  return scalarText(value) ?? '';
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
