import type { Words } from '../../language/translator.ts';
import { COMMANDS } from './commands.prepared.ts';
import { spokenCommand } from './shortcuts.ts';
import type { StatusLine } from './terminal.ts';

/** What of a terminal is for people. */
interface Said {
  out(text: string): void;
  err(text: string): void;
  readLine?: ((prompt: string) => Promise<string>) | undefined;
  status?: StatusLine | undefined;
  words?: Words | undefined;
  plain?: Record<'out' | 'err', (text: string) => void> | undefined;
  delivers?: boolean | undefined;
}

/** Their answers are texts of BMAD or for a model, which are never said otherwise. */
const DELIVERING = new Set(['completion', 'context', 'delegate', 'execute', 'read']);

/** A terminal that speaks the language of its person; JSON and files stay what they are. */
export function spoken<T extends Said>(terminal: T, words: Words | undefined, args: readonly string[]): T {
  if (words === undefined) return terminal;
  const { out, err, readLine, status } = terminal;
  const asked = spokenCommand(args).find((word) => !word.startsWith('-')) ?? '';
  const known = asked === '' || COMMANDS.some(({ command }) => command.split(' ', 1)[0] === asked);
  const delivers = !known || DELIVERING.has(asked);
  return {
    ...terminal,
    out: delivers ? out : (text) => out(words(text)),
    err: (text) => err(words(text)),
    ...(readLine === undefined ? {} : { readLine: (prompt) => readLine(words(prompt)) }),
    ...(status === undefined ? {} : { status: { ...status, show: (text) => status.show(words(text)) } }),
    plain: { out, err },
    words,
    delivers,
  };
}
