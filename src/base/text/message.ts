import { AsyncLocalStorage } from 'node:async_hooks';
import told from '../../../assets/words/spoken.json' with { type: 'json' };
import { shared } from '../values.ts';

/** English texts and what they are in another language; both have the same places (`{0}`) for what comes in. */
export type Catalogue = Readonly<Partial<Record<string, string>>>;

/** Whom something is done for. */
interface Spoken {
  words: Catalogue | undefined;
  /** Whether others, who may read another language, are served by the same process. */
  amongOthers: boolean;
}

/** A message that is kept, and said to each of its readers in their words. */
export class Kept {
  readonly #said: () => string;
  constructor(said: () => string) {
    this.#said = said;
  }
  toString(): string {
    return this.#said();
  }
}

/** Words for a person: a name that is the same for all, or a message. */
export type Said = string | Kept;

/** What is put into a message. */
type Given = string | number | bigint | Kept | undefined;

const spoken = /* @__PURE__ */ shared<{ now?: AsyncLocalStorage<Spoken> }>('who is spoken to', () => ({}));

const PLACES = /\{(\d+)\}/g;
const FIGURES = /\d+(?:\.\d+)?/g;

/**
 * A message to a person: t`There is no ${kind} called ${name}.` It is looked up as it is written here, and what comes in is
 * put in its place and never looked at. A message that the other language does not have stays English as a whole. Models and
 * programs are spoken to in English only.
 */
export function t(parts: TemplateStringsArray, ...given: readonly Given[]): string {
  const words = wordsNow();
  const said = words === undefined ? undefined : words[keyOf(parts)];
  if (said !== undefined) return said.replace(PLACES, (_place, number) => String(given[Number(number)]));
  let text = parts[0] ?? '';
  for (let place = 0; place < given.length; place += 1)
    text += String(given[place]) + (parts[place + 1] ?? '');
  return text;
}

/** A text of ours that was written before anybody knew who reads it, such as the title of an operation or a state. */
export function say(text: string): string {
  const words = wordsNow();
  if (words === undefined) return text;
  // A sentence may have been stored with its figures in it.
  const figures = text.match(FIGURES) ?? [];
  let place = 0;
  const known = words[text] ?? words[text.replace(FIGURES, () => `{${place++}}`)];
  return known?.replace(PLACES, (_place, number) => figures[Number(number)] ?? '') ?? text;
}

/** The words that are spoken now: what is kept with messages in it is kept for each of them. */
export const wordsNow = (): Catalogue | undefined => spoken.now?.getStore()?.words;

/** `3 stories`: one and many are messages of their own, `{n} story` and `{n} stories`. In French, none is as one. */
export function plural(count: number, one: string, many = `${one}s`): string {
  const isOne = count === 1 || (count === 0 && wordsNow() !== undefined);
  const text = `{n} ${isOne ? one : many}`;
  return say(text).replace('{n}', String(count));
}

/** Does something for a person, in their words; without words, in English. What runs beside it is not concerned. */
export function speaking<T>(words: Catalogue | undefined, work: () => T, amongOthers = false): T {
  if (words === undefined && wordsNow() === undefined) return work();
  spoken.now ??= new AsyncLocalStorage();
  return spoken.now.run({ words, amongOthers }, work);
}

/** Makes what is kept for callers to come: in English, where they may read another language than this one. */
export const forAll = <T>(work: () => T): T =>
  spoken.now?.getStore()?.amongOthers === true ? speaking(undefined, work, true) : work();

const keyOf = (parts: TemplateStringsArray): string =>
  parts.reduce((text, part, place) => `${text}{${place - 1}}${part}`);

type Named = 'French' | 'English';

const LEAST_WORDS = 25;
/** The other language may be quoted. */
const CLEARLY = 4;
const CODE = /`[^`\n]{0,500}`/g;

const wordsIn = (text: string): readonly string[] =>
  text
    .replace(CODE, ' ')
    .toLowerCase()
    .match(/\p{L}+/gu) ?? [];

/**
 * How many words are French and how many English, of those that only one of the two has and that hardly any sentence does without;
 * in a line every word counts, so that more of each are known.
 */
const counted = (words: readonly string[], kind: 'text' | 'line'): [french: number, english: number] => {
  const count = (language: Named): number => {
    const known = new Set(told[language][kind].split(' '));
    return words.filter((word) => known.has(word)).length;
  };
  return [count('French'), count('English')];
};

/** The language that a text is written in, where it is long enough to tell and is plainly one of the two. */
export function spokenLanguage(text: string): Named | undefined {
  const prose = text.replace(/```[^`]{0,100000}```/g, ' ').replace(CODE, ' ');
  const words = wordsIn(prose.replace(/"[^"\n]{1,60}"\s{0,3}:/g, ' '));
  if (words.length < LEAST_WORDS) return undefined;
  const [french, english] = counted(words, 'text');
  const least = words.length / 10;
  if (french >= least && french > CLEARLY * english) return 'French';
  return english >= least && english > CLEARLY * french ? 'English' : undefined;
}

const LEAST_IN_LINE = 2;

/** The language of a sentence or two; nothing unless it is plainly one of the two. */
export function lineLanguage(text: string): Named | undefined {
  const long = spokenLanguage(text);
  if (long !== undefined) return long;
  const [french, english] = counted(wordsIn(text), 'line');
  if (french >= LEAST_IN_LINE && english === 0) return 'French';
  return english >= LEAST_IN_LINE && french === 0 ? 'English' : undefined;
}

const NAMES = {
  French: /^fr(?:$|[^\p{L}]|an[cç]|ench)/iu,
  English: /^(?:en(?:$|[^\p{L}]|gl)|anglais)/iu,
} as const;

/** Which of the two languages a setting names: `Français`, `fr-FR`, `anglais`; nothing for any other. */
export function namedLanguage(name: string): Named | undefined {
  if (NAMES.French.test(name)) return 'French';
  return NAMES.English.test(name) ? 'English' : undefined;
}
