import { t } from '../../../base/text/message.ts';
import { type Cursor, line, type Line, span } from '../screen/paint.ts';
import { cutLine, lineWidth, padded, widthOf, wrapped } from '../screen/text.ts';

/** One of the things that can be picked. */
export interface Offer {
  value: string;
  /** What it is called; else its value. */
  name?: string | undefined;
  /** What it is, in a line. */
  about?: string | undefined;
}

interface Picking {
  typed: string;
  /** Which of those that are found is marked. */
  at: number;
}

/** More rows are no longer taken in at a glance. */
const MOST_ROWS = 10;
/** The question, what was typed, and what the keys do. */
const OTHER_ROWS = 3;

/** A list that gets shorter with each letter. */
export function picker(question: string, offers: readonly Offer[]): Prompt<Picking, string> {
  const known = offers.map((offer) => ({
    offer,
    text: folded(`${offer.value} ${nameOf(offer)} ${offer.about ?? ''}`),
  }));
  const found = (typed: string): Offer[] => {
    const words = folded(typed).split(/\s+/).filter(Boolean);
    if (words.length === 0) return [...offers];
    const fitting = known.filter(({ text }) => words.every((word) => text.includes(word)));
    const first = words[0] ?? '';
    const begins = (offer: Offer): boolean =>
      [offer.value, nameOf(offer)].some((name) =>
        folded(name)
          .split(/[\s/-]+/)
          .some((part) => part.startsWith(first)),
      );
    const [near, far] = [
      fitting.filter(({ offer }) => begins(offer)),
      fitting.filter(({ offer }) => !begins(offer)),
    ];
    return [...near, ...far].map(({ offer }) => offer);
  };
  return {
    start: { typed: '', at: 0 },
    press: (state, key) => pressed(state, key, found(state.typed)),
    draw: (state, room) => drawn(question, state, found(state.typed), offers.length, room),
  };
}

const nameOf = ({ name, value }: Offer): string => name ?? value;

/** Small letters without accents: nobody types them into a search. */
const folded = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();

const MOVES: Readonly<Partial<Record<string, number>>> = {
  up: -1,
  down: 1,
  pageup: -MOST_ROWS,
  pagedown: MOST_ROWS,
};

function pressed(state: Picking, key: Key, found: readonly Offer[]): Picking | Done<string> {
  const { typed, at } = state;
  const move = MOVES[key.ctrl === true ? ({ p: 'up', n: 'down' }[key.name ?? ''] ?? '') : (key.name ?? '')];
  if (move !== undefined) return { typed, at: Math.max(0, Math.min(found.length - 1, at + move)) };
  if (key.name === 'return' || key.name === 'enter') {
    const chosen = found[at];
    return chosen === undefined ? state : { done: chosen.value };
  }
  if (key.name === 'backspace') return { typed: typed.replace(/\P{M}\p{M}*$/u, ''), at: 0 };
  if (key.ctrl === true && key.name === 'u') return { typed: '', at: 0 };
  if (key.ctrl === true || key.meta === true || key.text === undefined) return state;
  return { typed: typed + key.text, at: 0 };
}

function drawn(
  question: string,
  { typed, at }: Picking,
  found: readonly Offer[],
  all: number,
  { width, height }: Room,
): ReturnType<Prompt<Picking, string>['draw']> {
  const rows = Math.max(1, Math.min(MOST_ROWS, height - OTHER_ROWS));
  const from = Math.max(0, Math.min(at - Math.floor(rows / 2), found.length - rows));
  const shown = found.slice(from, from + rows);
  const names = Math.min(
    Math.max(0, ...shown.map((offer) => widthOf(nameOf(offer)))),
    Math.floor(width * 0.45),
  );
  const whole = line(span('? ', 'name'), span(`${question} `, 'strong'), span(typed));
  // In a narrow terminal, what is typed is needed more than what was asked.
  const fits = lineWidth(whole) < width || typed === '';
  const head = cutLine(fits ? whole : line(span('? ', 'name'), span(typed)), width - 1);
  const list = shown.map((offer, index): Line => {
    const marked = from + index === at;
    const name = padded(cutLine([span(nameOf(offer), marked ? 'name' : 'strong')], names), names);
    return cutLine(
      line(span(marked ? '❯ ' : '  ', 'name'), ...name, '  ', span(offer.about ?? '', 'muted')),
      width - 1,
    );
  });
  const count = found.length === 0 ? t`Nothing is called that.` : t`${found.length} of ${all}`;
  const keys = t`↑ ↓ to move, Enter to choose, Esc to leave`;
  return {
    lines: [head, ...list, cutLine([span(`${count} · ${keys}`, 'muted')], width - 1)],
    cursor: { row: 0, column: head.reduce((sum, { text }) => sum + widthOf(text), 0) },
  };
}

interface Choice<Value> {
  /** What it does. */
  label: string;
  value: Value;
}

/**
 * A few ways to go on, each with a letter of its name. The last one changes nothing: it is taken by Enter and by "n". Any
 * other key is none.
 */
export function choice<Value>(choices: readonly Choice<Value>[]): Prompt<'open', Value> {
  const keyed = withKeys(choices);
  const last = choices.at(-1);
  return {
    start: 'open',
    stays: true,
    press(state, { name, text, ctrl }) {
      const typed = text?.toLowerCase();
      const taken = ctrl === true ? undefined : keyed.find(({ key }) => key === typed);
      if (taken !== undefined) return { done: taken.value };
      const none = name === 'return' || name === 'enter' || typed === 'n';
      return none && last !== undefined ? { done: last.value } : state;
    },
    draw: (_state, { width }) => ({ lines: wrapped(choiceLine(keyed), width) }),
  };
}

function choiceLine(keyed: readonly { key: string; label: string }[]): Line {
  return keyed.flatMap(({ key, label }, at) => [
    ...(at === 0 ? [] : [span('  ')]),
    span(`[${key}]`, 'name'),
    span(` ${label}`),
  ]);
}

/** The first letter of each label that no other has yet; digits, once there is none. */
function withKeys<Value>(
  choices: readonly { label: string; value: Value }[],
): { key: string; label: string; value: Value }[] {
  const taken = new Set(['n']);
  return choices.map((each, at) => {
    const letters = each.label.toLowerCase().match(/\p{L}/gu) ?? [];
    const key = letters.find((letter) => !taken.has(letter)) ?? String(at + 1);
    taken.add(key);
    return { ...each, key };
  });
}

/** A key as `node:readline` gives it. */
export interface Key {
  name?: string | undefined;
  ctrl?: boolean | undefined;
  meta?: boolean | undefined;
  /** What was typed, if it is text. */
  text?: string | undefined;
}

/** What is there to draw on. */
interface Room {
  width: number;
  height: number;
}

/** The end of a prompt. */
interface Done<Value> {
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
