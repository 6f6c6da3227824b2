import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Tool } from '@modelcontextprotocol/server';
import { createContext } from '../../src/app/app.ts';
import { CLI_PROGRAM, TOOLSETS } from '../../src/base/product.ts';
import { cell } from '../../src/base/text/text.ts';
import { operations } from '../../src/operations/index.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { isForPrograms } from '../../src/operations/reachable.ts';
import { takesQuery } from '../../src/surfaces/http/api/input.ts';
import { toolList } from '../../src/surfaces/mcp/tools.ts';
import { tokens as tokensOf } from '../bench/figures.ts';
import { code, propertiesOf, type Property, shape, table } from './markdown.ts';

export function toolsPage(): string[] {
  const tools = operations.filter(({ toolset }) => toolset !== undefined);
  return [
    '# Tools',
    '',
    'Which of them are offered is chosen at the start, by sets: [toolsets](../guide/toolsets.md). What each set costs is in',
    '[limits.md](limits.md). An argument that is not in the table is refused.',
    '',
    ...table(
      ['toolset', 'tools'],
      TOOLSETS.map((name) => [code(name), toolNames(name)]),
    ),
    ...tools.flatMap((tool) => ['', ...section(tool)]),
    '',
    '## `{module}-{agent}`: an agent',
    '',
    'One tool for each agent of the content, such as `bmm-architect`. Its description is made of the title, the persona and',
    'the menu. It takes the words for the agent as `message`; `section`, `cursor` and `project` are as above.',
  ];
}

function toolNames(toolset: string): string {
  const names = operations.filter((tool) => tool.toolset === toolset).map(({ name }) => code(name));
  if (toolset === 'agents') names.push('one for each agent');
  return names.join(', ') || 'none yet';
}

function section(tool: AnyOperation): string[] {
  const properties = propertiesOf(tool);
  return [
    `## \`${tool.name}\`: ${tool.title}`,
    '',
    tool.description,
    '',
    `Toolset \`${tool.toolset ?? ''}\`, effect \`${tool.effect}\`, answers with ${tool.answersData === true ? 'data' : 'text'}.`,
    '',
    ...table(
      ['argument', 'type', 'meaning'],
      properties.map(([name, property]) => [code(name), shape(property), meaningOf(name, property)]),
    ),
    ...routedOperations(properties),
    ...actionsOf(tool),
  ];
}

/** What a tool with actions does for each of them, and the command that does the same. */
function actionsOf(tool: AnyOperation): string[] {
  if (tool.name !== 'manage_project' && tool.name !== 'manage_memories') return [];
  const behind = tool.name;
  const rows = operations.flatMap((operation) => {
    const action = operation.behind?.[behind];
    if (action === undefined) return [];
    const command = operation.command === undefined ? '' : code(`${CLI_PROGRAM} ${operation.command}`);
    return [[code(action), command, operation.title]];
  });
  return ['', ...table(['action', 'command', 'what it does'], rows)];
}

/** A tool that hands over to other operations names them in its `operation` argument. */
function routedOperations(properties: readonly [string, Property][]): string[] {
  const names = properties.find(([name]) => name === 'operation')?.[1].enum ?? [];
  const rows = names.flatMap((name) =>
    operations
      .filter((operation) => operation.name === name)
      .map(({ title, description }) => [code(name), title, description]),
  );
  return rows.length === 0 ? [] : ['', ...table(['operation', 'title', 'what it does'], rows)];
}

/** The unified tool leaves some words to the operations behind it, to keep its schema small. */
function meaningOf(name: string, { description }: Property): string {
  if (description !== undefined) return description;
  if (name === 'operation') return 'See the table below';
  const shared = operations.flatMap((operation) => propertiesOf(operation));
  const described = shared.find(([other, property]) => other === name && property.description !== undefined);
  return described?.[1].description ?? '';
}

const repository = resolve(fileURLToPath(import.meta.url), '..', '..', '..');

/** What one choice of toolsets costs a host, on the built-in content. */
interface ToolsetSize {
  toolsets: string;
  tools: readonly Tool[];
  bytes: number;
  tokens: number;
}

/** The tools of a choice of toolsets as a host gets them, in a folder where nothing is installed. */
async function offeredTools(toolsets?: readonly string[]): Promise<Tool[]> {
  const nowhere = join(tmpdir(), 'bmad-docs-nowhere');
  const context = await createContext({
    flags: toolsets === undefined ? {} : { toolsets },
    presets: {},
    env: {},
    cwd: nowhere,
    home: nowhere,
    platform: 'linux',
    contentRoot: join(repository, 'dist', 'content'),
    serverCommand: [process.execPath],
    writeError: () => undefined,
    terminal: false,
    patient: false,
  });
  return toolList(context, { signal: new AbortController().signal, progress: () => undefined });
}

export async function toolsetSizes(): Promise<ToolsetSize[]> {
  const choices: [string, readonly string[] | undefined][] = [
    ['default', undefined],
    ...TOOLSETS.map((name): [string, readonly string[]] => [name, [name]]),
    ['all', TOOLSETS],
  ];
  return Promise.all(
    choices.map(async ([name, choice]) => {
      const tools = await offeredTools(choice);
      const bytes = Buffer.byteLength(JSON.stringify({ tools }));
      return { toolsets: name, tools, bytes, tokens: tokensOf(bytes) };
    }),
  );
}

export function httpApiPage(): string[] {
  const offered = operations.filter(isForPrograms);
  const others = operations.filter((operation) => !isForPrograms(operation));
  return [
    '# HTTP API',
    '',
    'The routes of a server that offers everything; [the guide](../guide/http-api.md) says which of them a server offers and',
    'how they are called. `GET /openapi.json` has the schemas of what goes in and comes out. Arguments in italics are required.',
    '',
    ...table(
      ['route', 'methods', 'effect', 'arguments', 'what it does'],
      offered.map((operation) => [
        code(`/api/${operation.name}`),
        takesQuery(operation) ? 'GET, POST' : 'POST',
        operation.effect,
        argumentsOf(operation),
        operation.title,
      ]),
    ),
    '',
    '## Not over HTTP',
    '',
    'What a person decides, what touches files of the user, and what is a part of another surface:',
    '',
    others.map(({ name }) => code(name)).join(', ') + '.',
  ];
}

function argumentsOf(operation: AnyOperation): string {
  const { shape: fields } = operation.input;
  return propertiesOf(operation)
    .filter(([name]) => operation.typedOnly?.includes(name) !== true)
    .map(([name]) => cell(fields[name]?.safeParse(undefined).success === true ? name : `*${name}*`))
    .join(', ');
}
