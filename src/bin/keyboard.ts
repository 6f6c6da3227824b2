import { t } from '../base/text/message.ts';
import { createRequire } from 'node:module';
import type * as readline from 'node:readline';
import { BmadError } from '../base/errors.ts';
import { isDone, type Key, type Prompt } from '../surfaces/cli/ask/prompt.ts';
import type { Look } from '../surfaces/cli/screen/look.ts';
import { painted, repainted } from '../surfaces/cli/screen/paint.ts';
import { cutLine } from '../surfaces/cli/screen/width.ts';
import type { Keyboard } from '../surfaces/cli/terminal.ts';

/** The keys of a terminal, of which every one comes at once while a question is open. */
export interface KeySource {
  isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
  on(event: 'keypress', hear: (text: string | undefined, key: readline.Key) => void): unknown;
  off(event: 'keypress', hear: (text: string | undefined, key: readline.Key) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** Where questions are drawn. */
interface Drawn {
  write(text: string): unknown;
  columns?: number;
  rows?: number;
}

const USUAL_ROWS = 24;

/** Asks with single keys. Ctrl+C and Escape end the question, and the command with it: nothing has been done yet. */
export function keyboardOn(keys: KeySource, screen: Drawn, look: Look, signal: AbortSignal): Keyboard {
  return {
    ask: (prompt) => {
      const { emitKeypressEvents } = createRequire(import.meta.url)('node:readline') as typeof readline;
      emitKeypressEvents(keys as unknown as NodeJS.ReadableStream);
      return answered(prompt, { keys, screen, look, signal });
    },
  };
}

interface Place {
  keys: KeySource;
  screen: Drawn;
  look: Look;
  signal: AbortSignal;
}

function answered<State, Value>(
  prompt: Prompt<State, Value>,
  { keys, screen, look, signal }: Place,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let state = prompt.start;
    let above = 0;
    const draw = (): void => {
      const width = screen.columns || look.width;
      const { lines, cursor } = prompt.draw(state, { width, height: screen.rows || USUAL_ROWS });
      if (prompt.stays === true) return void screen.write(painted(lines, look));
      // A line that the terminal breaks would count twice.
      const fitting = lines.map((each) => cutLine(each, width - 1));
      screen.write(repainted(fitting, look, above, cursor));
      above = cursor === undefined ? fitting.length : cursor.row;
    };
    const end = (settle: () => void): void => {
      keys.off('keypress', hear);
      signal.removeEventListener('abort', leave);
      keys.setRawMode?.(false);
      keys.pause();
      if (prompt.stays !== true) screen.write(repainted([], look, above));
      settle();
    };
    const leave = (): void => end(() => reject(new BmadError('cancelled', t`Nothing was changed.`)));
    const hear = (text: string | undefined, key: readline.Key): void => {
      if (key.name === 'escape' || (key.ctrl === true && /^[cd]$/.test(key.name ?? ''))) return leave();
      const next = prompt.press(state, keyOf(text, key));
      if (isDone(next)) return end(() => resolve(next.done));
      if (next === state) return;
      state = next;
      draw();
    };
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave);
    keys.setRawMode?.(true);
    keys.on('keypress', hear);
    keys.resume();
    draw();
  });
}

/** What is typed as text, and no code of a key. */
function keyOf(text: string | undefined, { name, ctrl, meta }: readline.Key): Key {
  return { name, ctrl, meta, ...(text !== undefined && /^[^\p{C}]+$/u.test(text) ? { text } : {}) };
}
