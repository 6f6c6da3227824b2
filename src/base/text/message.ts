import { AsyncLocalStorage } from 'node:async_hooks';

/** English texts and what they are in another language; both have the same places (`{0}`) for what comes in. */
export type Catalogue = Readonly<Partial<Record<string, string>>>;

/** What is put into a message. */
type Given = string | number | bigint | undefined;

/** The programs consist of several files, each with its own copy of this one. */
const SPOKEN = Symbol.for('bmad-mcp-server: the words that a person is spoken to in');
const state = globalThis as { [SPOKEN]?: AsyncLocalStorage<Catalogue> };

const PLACES = /\{(\d+)\}/g;

/**
 * A message to a person: t`There is no ${kind} called ${name}.` It is looked up as it is written here, and what comes in is
 * put in its place and never looked at. A message that the other language does not have stays English as a whole. Models and
 * programs are spoken to in English only.
 */
export function t(parts: TemplateStringsArray, ...given: readonly Given[]): string {
  const words = state[SPOKEN]?.getStore();
  const said = words === undefined ? undefined : words[keyOf(parts)];
  if (said !== undefined) return said.replace(PLACES, (_place, number) => String(given[Number(number)]));
  let text = parts[0] ?? '';
  for (let place = 0; place < given.length; place += 1)
    text += String(given[place]) + (parts[place + 1] ?? '');
  return text;
}

/** A text of ours that was written before anybody knew who reads it, such as the title of an operation or a state. */
export const say = (text: string): string => state[SPOKEN]?.getStore()?.[text] ?? text;

/** `3 stories`: one and many are messages of their own, `{n} story` and `{n} stories`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  const text = `{n} ${count === 1 ? one : many}`;
  return say(text).replace('{n}', String(count));
}

/** Does something for a person, in their words; without words, in English. What runs beside it is not concerned. */
export function speaking<T>(words: Catalogue | undefined, work: () => T): T {
  if (words === undefined) return work();
  state[SPOKEN] ??= new AsyncLocalStorage();
  return state[SPOKEN].run(words, work);
}

const keyOf = (parts: TemplateStringsArray): string =>
  parts.reduce((text, part, place) => `${text}{${place - 1}}${part}`);
