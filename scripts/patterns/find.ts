import { tokensOf } from '../english/tokens.ts';
import { slowOn } from './growth.ts';

export interface Pattern {
  file: string;
  line: number;
  source: string;
  flags: string;
}

/** The regular expressions that are written out in a file. */
export function patternsIn(file: string, code: string): Pattern[] {
  // The first line of a program names what runs it.
  const plain = code.replace(/^#!.*/, (first) => ' '.repeat(first.length));
  return tokensOf(plain)
    .filter(({ kind }) => kind === 'regex')
    .map(({ start, end }) => {
      const whole = code.slice(start, end);
      const close = whole.lastIndexOf('/');
      const line = code.slice(0, start).split('\n').length;
      return { file, line, source: whole.slice(1, close), flags: whole.slice(close + 1) };
    });
}

/** The lines where an expression is put together, which has to be listed with an example. */
export function builtIn(code: string): number[] {
  if (!code.includes('RegExp')) return [];
  const tokens = tokensOf(code).filter(({ kind }) => kind !== 'comment');
  return tokens.flatMap(({ kind, text, start }, index) => {
    const next = tokens[index + 1];
    const isBuilt = kind === 'code' && text === 'RegExp' && next?.kind === 'code' && next.text === '(';
    return isBuilt ? [code.slice(0, start).split('\n').length] : [];
  });
}

/** What to say about an expression that some text takes too long; nothing if none does. */
export function complaint({ file, line, source, flags }: Pattern): string | undefined {
  const slow = slowOn(source, flags);
  if (slow === undefined) return undefined;
  const { head, pump, tail } = slow.attack;
  const text = `${JSON.stringify(head)} + ${JSON.stringify(pump)} × n + ${JSON.stringify(tail)}`;
  return `${file}:${line}  /${source}/${flags}\n    ${text}: ${slow.ms.toFixed(1)} ms for ${slow.length} characters\n`;
}
