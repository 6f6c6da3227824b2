import { MANIFESTS, MASTER_ABOUT, generatedFiles, mimeTypeOf } from '../../src/services/delivery/files.ts';
import { RENDERED } from '../../src/services/delivery/resolve-skill.ts';
import { MESSAGE_ARGUMENT } from '../../src/surfaces/mcp/prompts.ts';
import { TEMPLATES } from '../../src/surfaces/mcp/resource-templates.ts';
import { SKILLS_CAPABILITY } from '../../src/surfaces/mcp/resources.ts';
import { libraryDeclarations } from '../bundle.ts';
import { cliPage } from './cli.ts';
import { configPage, errorsPage, limitsPage, nextRulesPage } from './limits.ts';
import { code, table } from './markdown.ts';
import { httpApiPage, toolsPage } from './tools.ts';

export interface Declaration {
  name: string;
  kind: 'function' | 'class' | 'interface' | 'type';
  /** What the comment above it says. */
  words: string;
  /** The declaration itself, comments of its members included. */
  text: string;
}

const EXPORT = /^export (?:declare )?(function|class|interface|type) (\w+)/;

/** Everything the library exports, in the order of its one file of declarations. */
export function declarations(): Declaration[] {
  const source = libraryDeclarations();
  return source.split(/\n\n(?=\/\*\*|export )/).flatMap((block) => {
    const start = block.search(/^export /m);
    const text = block.slice(start).trim();
    const [, kind, name] = EXPORT.exec(text) ?? [];
    if (start === -1 || kind === undefined || name === undefined) return [];
    return [{ name, kind: kind as Declaration['kind'], words: comment(block.slice(0, start)), text }];
  });
}

function comment(text: string): string {
  return text
    .replace(/^\s*\/\*\*\s?|\s*\*\/\s*$/g, '')
    .replace(/^\s*\* ?/gm, '')
    .trim();
}

function libraryPage(): string[] {
  const all = declarations();
  const values = all.filter(({ kind }) => kind === 'function' || kind === 'class');
  const types = all.filter(({ kind }) => kind === 'interface' || kind === 'type');
  return [
    '# Library',
    '',
    'What `mcp-server-bmad` exports. [The guide](../guide/library.md) shows how it is used.',
    '',
    `Values: ${values.map(({ name }) => code(name)).join(', ')}. Types: ${types.map(({ name }) => code(name)).join(', ')}.`,
    ...[...values, ...types].flatMap(({ name, words, text }) => [
      '',
      `## ${name}`,
      '',
      ...(words === '' ? [] : [words, '']),
      '```ts',
      text.replace(/^export declare /, '').replace(/^export /, ''),
      '```',
    ]),
  ];
}

const EXTENSIONS = ['md', 'yaml', 'yml', 'json', 'xml', 'csv', 'toml', 'py', 'txt'];

function promptsAndResourcesPage(): string[] {
  return [
    '# Prompts and resources',
    '',
    '## Prompts',
    '',
    'There is one prompt for each agent, workflow and plain skill; deprecated names have none. The name is',
    '`bmad-{id}`, where the id has lost its own `bmad-` or `bmad-agent-`. Agents are named first; a name that is',
    'taken becomes `bmad-{module}-{id}`, then `bmad-{module}-{kind}-{id}`. A name that is still taken, too long, or in',
    'another script ends in a mark of eight characters, which stays the same.',
    '',
    `Each takes one optional argument, \`${MESSAGE_ARGUMENT}\`. The answer is what \`execute\` returns.`,
    '',
    '## Resource templates',
    '',
    ...table(
      ['template', 'title', 'what it reads'],
      TEMPLATES.map(({ uriTemplate, title, description }) => [code(uriTemplate), title, description]),
    ),
    '',
    'The variables can be completed. So can the message of an agent’s prompt, with the entries of its menu.',
    '',
    '## Files the server makes',
    '',
    ...generatedPaths().map((path) => `- \`bmad://${path}\`, where the content has no such file`),
    '- `bmad://config/current`, the configuration in force as YAML, with secrets masked',
    ...Object.entries(MANIFESTS).map(([name, { about }]) => `- \`bmad://manifests/${name}\` (CSV): ${about}`),
    `- \`bmad://manifests/master.json\`: ${MASTER_ABOUT}`,
    `- \`bmad://${RENDERED}{skill}/{file}\`, the Markdown files of a skill that has to be rendered before use`,
    '',
    '## Skills',
    '',
    `The extension \`${Object.keys(SKILLS_CAPABILITY)[0] ?? ''}\`: \`skills/list\`, \`skills/get\` and`,
    '`resources/directory/read`. There is one skill for each prompt, at `skill://{module}/{name}/SKILL.md`.',
    '',
    '## Changes',
    '',
    'Resources can be subscribed to. Clients are told of those that are different, and of',
    'lists of prompts and resources that are.',
    '',
    '## MIME types',
    '',
    ...table(
      ['file', 'MIME type'],
      EXTENSIONS.map((extension) => [code(`.${extension}`), code(mimeTypeOf(`file.${extension}`))]),
    ),
    '',
    'Any other text is `text/plain`. What is not text is `application/octet-stream` and comes as a blob.',
  ];
}

/** The paths for a module that stands for every module. */
function generatedPaths(): string[] {
  const origin = { kind: 'package', displayName: '', root: '', priority: 0 } as const;
  const module = { code: '{module}', name: '', description: '', origin, settings: [], roster: [], help: [] };
  return [...generatedFiles([module], () => Promise.resolve({})).keys()];
}

/** The pages of docs/reference by file name. Nothing of the machine they are made on may show in them. */
export const REFERENCE: Readonly<Record<string, () => string[] | Promise<string[]>>> = {
  'tools.md': toolsPage,
  'cli.md': cliPage,
  'config.md': configPage,
  'errors.md': errorsPage,
  'http-api.md': httpApiPage,
  'library.md': libraryPage,
  'limits.md': limitsPage,
  'next-rules.md': nextRulesPage,
  'prompts-and-resources.md': promptsAndResourcesPage,
};
