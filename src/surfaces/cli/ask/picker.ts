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
  /** Whether it is chosen already, where several can be. */
  on?: boolean | undefined;
}

interface Picking {
  typed: string;
  /** Which of those that are found is marked. */
  at: number;
  /** What is chosen, where several can be. */
  on: ReadonlySet<string>;
}

/** More rows are no longer taken in at a glance. */
const MOST_ROWS = 10;
/** The question, what was typed, and what the keys do. */
const OTHER_ROWS = 3;

/** A list that gets shorter with each letter, of which one thing is chosen. */
export const picker = (question: string, offers: readonly Offer[]): Prompt<Picking, string> =>
  listPrompt(
    question,
    offers,
    t`↑ ↓ to move, Enter to choose, Esc to leave`,
    ({ found, at }) => found[at]?.value,
  );

/** The same list, of which several are chosen: the space bar changes what is marked, and Enter takes all that are on. */
export function severalPicker(question: string, offers: readonly Offer[]): Prompt<Picking, string[]> {
  const keys = t`↑ ↓ to move, Space to choose, Enter to continue, Esc to leave`;
  const taken = listPrompt(question, offers, keys, ({ on }) =>
    offers.map(({ value }) => value).filter((value) => on.has(value)),
  );
  return {
    ...taken,
    press(state, key) {
      if (key.text !== ' ') return taken.press(state, key);
      const value = taken.found(state.typed)[state.at]?.value;
      if (value === undefined) return state;
      const on = new Set(state.on);
      if (!on.delete(value)) on.add(value);
      return { ...state, on };
    },
  };
}

interface Shortlist extends Picking {
  found: readonly Offer[];
}

function listPrompt<Value>(
  question: string,
  offers: readonly Offer[],
  keys: string,
  taken: (state: Shortlist) => Value | undefined,
): Prompt<Picking, Value> & { found(typed: string): Offer[] } {
  const several = offers.some(({ on }) => on !== undefined);
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
    found,
    start: { typed: '', at: 0, on: new Set(offers.flatMap(({ on, value }) => (on === true ? [value] : []))) },
    press(state, key) {
      const shown = found(state.typed);
      if (key.name !== 'return' && key.name !== 'enter') return pressed(state, key, shown.length);
      const done = taken({ ...state, found: shown });
      return done === undefined ? state : { done };
    },
    draw: (state, room) =>
      drawn({ question, keys, several, all: offers.length }, { ...state, found: found(state.typed) }, room),
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

function pressed(state: Picking, key: Key, found: number): Picking {
  const { typed, at, on } = state;
  const move = MOVES[key.ctrl === true ? ({ p: 'up', n: 'down' }[key.name ?? ''] ?? '') : (key.name ?? '')];
  if (move !== undefined) return { typed, at: Math.max(0, Math.min(found - 1, at + move)), on };
  if (key.name === 'backspace') return { typed: typed.replace(/\P{M}\p{M}*$/u, ''), at: 0, on };
  if (key.ctrl === true && key.name === 'u') return { typed: '', at: 0, on };
  if (key.ctrl === true || key.meta === true || key.text === undefined) return state;
  return { typed: typed + key.text, at: 0, on };
}

function drawn(
  { question, keys, several, all }: { question: string; keys: string; several: boolean; all: number },
  { typed, at, on, found }: Shortlist,
  { width, height }: Room,
): ReturnType<Prompt<Picking, unknown>['draw']> {
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
      line(
        span(marked ? '❯ ' : '  ', 'name'),
        ...(several ? [on.has(offer.value) ? span('[✓] ', 'good') : span('[ ] ', 'muted')] : []),
        ...name,
        '  ',
        span(offer.about ?? '', 'muted'),
      ),
      width - 1,
    );
  });
  const part = t`${from + 1} to ${from + shown.length} of ${found.length}`;
  const all_ = t`${found.length} of ${all}`;
  const count = found.length === 0 ? t`Nothing is called that.` : found.length > rows ? part : all_;
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
