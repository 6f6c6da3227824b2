import type { Line } from '../screen/lines.ts';
import type { Cursor } from '../screen/paint.ts';

/** A key as `node:readline` gives it. */
export interface Key {
  name?: string | undefined;
  ctrl?: boolean | undefined;
  meta?: boolean | undefined;
  /** What was typed, if it is text. */
  text?: string | undefined;
}

/** What is there to draw on. */
export interface Room {
  width: number;
  height: number;
}

/** The end of a prompt. */
export interface Done<Value> {
  done: Value;
}

/** A question as a value: what a key makes of its state, and how that looks. It knows no terminal. */
export interface Prompt<State, Value> {
  start: State;
  press(state: State, key: Key): State | Done<Value>;
  draw(state: State, room: Room): { lines: readonly Line[]; cursor?: Cursor };
  /** Whether it is drawn once and stays on the screen; others are drawn anew with each key, and are gone at the end. */
  stays?: true;
}

export function isDone<State, Value>(next: State | Done<Value>): next is Done<Value> {
  return typeof next === 'object' && next !== null && 'done' in next;
}
