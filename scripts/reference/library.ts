import { libraryDeclarations } from '../library-declarations.ts';
import { code } from './markdown.ts';

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

export function libraryPage(): string[] {
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
