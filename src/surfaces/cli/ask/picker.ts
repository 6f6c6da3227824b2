import { t } from '../../../base/text/message.ts';
import { line, span, type Line } from '../screen/lines.ts';
import { cutLine, lineWidth, padded, widthOf } from '../screen/width.ts';
import type { Done, Key, Prompt, Room } from './prompt.ts';

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
