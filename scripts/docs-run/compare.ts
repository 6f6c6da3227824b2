import { createHash } from 'node:crypto';

/** Stands on a line for any number of lines, and within a line for any text. */
const GAP = '…';

/** Sizes of texts with paths in them differ a little from machine to machine. */
const SIZES = /\d[\d,]*(?:\.\d+)?(?= (?:of [\d,]+ )?(?:tokens|kB|bytes)\b)/g;

const isGap = (line: string): boolean => line.trim() === GAP;
const numberOf = (text: string): number => Number(text.replaceAll(',', ''));

function sizesAreClose(one: string, other: string): boolean {
  if (one.replace(SIZES, '#') !== other.replace(SIZES, '#')) return false;
  const sizes = (other.match(SIZES) ?? []).map(numberOf);
  return (one.match(SIZES) ?? []).map(numberOf).every((size, index) => {
    const wanted = sizes[index] ?? Number.NaN;
    return Math.abs(size - wanted) <= Math.max(8, wanted * 0.03);
  });
}

function fits(shown: string, real: string): boolean {
  if (shown === real || sizesAreClose(shown, real)) return true;
  if (!shown.includes(GAP)) return false;
  const parts = shown.split(GAP).map((part) => part.trim().replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 'su').test(real.trim());
}

/** Does a text with gaps agree with what a program wrote? */
export function agrees(shown: readonly string[], real: readonly string[]): boolean {
  const first = shown[0];
  if (first === undefined) return real.length === 0;
  if (isGap(first))
    return real.some((_, index) => agrees(shown.slice(1), real.slice(index))) || agrees(shown.slice(1), []);
  return real[0] !== undefined && fits(first, real[0]) && agrees(shown.slice(1), real.slice(1));
}

/** Words without what changes most: numbers, and the plural that comes with them. */
const wordsOf = (line: string): string[] =>
  line
    .replace(/\d+/g, '0')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.replace(/s$/, ''));

/** 0 for lines that have nothing to do with each other, 1 for the same one. */
function likeness(shown: string, real: string): number {
  if (fits(shown, real)) return 1;
  const [one, other] = [wordsOf(shown), wordsOf(real)];
  const common = one.filter((word) => other.includes(word)).length;
  const share = (2 * common) / (one.length + Math.min(other.length, one.length * 2) || 1);
  return share >= 0.5 ? share : 0;
}

/** For each line of the program the line of the text that it continues: the best order-keeping choice. */
function pairs(shown: readonly string[], real: readonly string[]): Map<number, number> {
  const best = Array.from({ length: shown.length + 1 }, () =>
    Array.from({ length: real.length + 1 }, () => 0),
  );
  const at = (row: number, column: number): number => best[row]?.[column] ?? 0;
  const alike = shown.map((line) => real.map((text) => (isGap(line) ? 0 : likeness(line, text))));
  for (let row = shown.length - 1; row >= 0; row -= 1)
    for (let column = real.length - 1; column >= 0; column -= 1) {
      const like = alike[row]?.[column] ?? 0;
      const rows = best[row];
      if (rows)
        rows[column] = Math.max(
          at(row + 1, column),
          at(row, column + 1),
          like > 0 ? like + at(row + 1, column + 1) : 0,
        );
    }
  const found = new Map<number, number>();
  for (let row = 0, column = 0; row < shown.length && column < real.length;) {
    const like = alike[row]?.[column] ?? 0;
    if (like > 0 && at(row, column) === like + at(row + 1, column + 1)) {
      found.set(column, row);
      row += 1;
      column += 1;
    } else if (at(row, column) === at(row + 1, column)) row += 1;
    else column += 1;
  }
  return found;
}

/** A line that was cut short stays as short as it was. */
function cutLike(shown: string, real: string): string {
  if (fits(shown, real)) return shown;
  if (!shown.endsWith(` ${GAP}`) || real.length <= shown.length) return real;
  const start = real.slice(0, shown.length - 2);
  return `${real[start.length] === ' ' ? start : start.replace(/\s+\S*$/, '')} ${GAP}`;
}

/** What the page has to show: as it is while it agrees, else the program's lines with the gaps where they were. */
export function brought(shown: readonly string[], real: readonly string[]): string[] {
  if (agrees(shown, real)) return [...shown];
  const paired = pairs(shown, real);
  const lines: string[] = [];
  let next = 0;
  const gapBefore = (row: number): string | undefined => shown.slice(next, row).find(isGap);
  for (const [index, text] of real.entries()) {
    const row = paired.get(index);
    if (row === undefined) {
      const upcoming = real.findIndex((_, later) => later > index && paired.has(later));
      const gap = gapBefore(upcoming < 0 ? shown.length : (paired.get(upcoming) ?? shown.length));
      if (gap === undefined) lines.push(text);
      else if (lines.at(-1) !== gap) lines.push(gap);
    } else {
      lines.push(cutLike(shown[row] ?? '', text));
      next = row + 1;
    }
  }
  return lines;
}

/** The day on which everything in the documents happens. */
const DAY = '2026-11-15';
/** Today, or tomorrow: what is said to last for half an hour, or run so long, may end there. */
const days = [0, 86_400_000].map((later) => new Date(Date.now() + later).toISOString().slice(0, 10));
const [today = DAY] = days;
const anyDay = `(?:${days.join('|')})`;
const compact = (text: string): string => text.replaceAll('-', '');

/** What differs from run to run. The group gets a stand-in: a `stamp`, `hex` of the same length, or this very text. */
const VARYING: readonly { what: string; where: RegExp; like: string }[] = [
  { what: 'stamp', where: new RegExp(`\\b${compact(anyDay)}-(\\d{6})\\b`, 'g'), like: 'stamp' },
  { what: 'task', where: /\btask-\d{8}-\d{6}-([0-9a-f]{6})\b/g, like: 'hex' },
  { what: 'run', where: /\b(?!task-)[a-z-]+-\d{8}-\d{6}-([0-9a-f]{6})\b/g, like: 'hex' },
  { what: 'contract', where: /-to-[a-z-]+-\d{4}-\d\d-\d\d-([0-9a-f]{6})\b/g, like: 'hex' },
  {
    what: 'memory',
    where: /\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b/g,
    like: 'hex',
  },
  { what: 'claim', where: /\b([0-9a-f]{16})\b/g, like: 'hex' },
  // Not the end of an id of a memory, which has its own stand-in.
  { what: 'place', where: /(?<![0-9a-f]{4}-)\b[a-z][\w.]*-([0-9a-f]{12})\b/g, like: 'hex' },
  { what: 'caller', where: /\ba2a_([0-9a-f]{8})\b/g, like: 'hex' },
  { what: 'checkpoint', where: /\bCheckpoint ([0-9a-f]{6})\b/g, like: 'hex' },
  // Where a text was cut depends on the paths in it.
  { what: 'cursor', where: /(?<=\bt)([0-9a-f]{8}-\d+)/g, like: 'c1e5d7d3-7088' },
  { what: 'cursor', where: /(?<=\bl)([0-9a-f]{8})(?=-\d)/g, like: 'hex' },
  { what: 'token', where: /(?<=^ {2})([\w-]{43})$/gm, like: 'AEi8f2T85f9P4YAarXq0HZM7edFimSaBo1-LNRVYDcE' },
  { what: 'port', where: /(?<=(?:127\.0\.0\.1|0\.0\.0\.0|\[::1\]):)(\d{4,5})\b/g, like: '2623' },
];

/** Values that no later command needs: the same text every time. */
const CONSTANT: readonly [RegExp, string][] = [
  [new RegExp(`${anyDay}T\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z`, 'g'), `${DAY}T09:00:00.000Z`],
  [new RegExp(`${anyDay}T\\d\\d-\\d\\d-\\d\\d-\\d+Z`, 'g'), `${DAY}T09-00-00-000Z`],
  [new RegExp(`${anyDay}T\\d\\d:\\d\\d(?!:)\\b`, 'g'), `${DAY}T09:30`],
  [new RegExp(`${anyDay} \\d\\d:\\d\\d:\\d\\d`, 'g'), `${DAY} 09:00:00`],
  [new RegExp(anyDay, 'g'), DAY],
  [/\bNode v\d+\.\d+\.\d+/g, 'Node v20.20.2'],
  [/\b\d+(?:\.\d+)? s(?=,)/g, '0.1 s'],
  [/"ms":\d+(?:\.\d+)?/g, '"ms":12.3'],
];

const hexLike = (shape: string, seed: string): string => {
  const digits = createHash('sha256').update(seed).digest('hex');
  let at = 0;
  return shape.replace(/[0-9a-f]/g, () => digits[at++ % digits.length] ?? '0');
};

/** Turns what differs from machine to machine and run to run into what the documents show, and back. */
export class StandIns {
  readonly #shown = new Map<string, string>();
  readonly #places: readonly (readonly [real: string, shown: string])[];
  readonly #kinds = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  constructor(places: readonly (readonly [string, string])[]) {
    this.#places = places;
  }

  #standIn(what: string, like: string, value: string): string {
    const known = this.#shown.get(value);
    if (known !== undefined) return known;
    const count = this.#counts.get(what) ?? 0;
    this.#counts.set(what, count + 1);
    const shown =
      like === 'hex'
        ? hexLike(value, `${what} ${count}`)
        : like === 'stamp'
          ? `${String(9 + Math.floor(count / 60)).padStart(2, '0')}${String(count % 60).padStart(2, '0')}00`
          : like;
    this.#shown.set(value, shown);
    this.#kinds.set(value, what);
    return shown;
  }

  /** From now on other values of this kind get the stand-ins. */
  forget(what: string): void {
    this.#counts.delete(what);
    for (const [value, kind] of this.#kinds) if (kind === what) this.#shown.delete(value);
  }

  shown(text: string): string {
    let result = text;
    for (const [real, shown] of this.#places) result = result.replaceAll(real, shown);
    for (const { what, where, like } of VARYING)
      result = result.replace(where, (whole, value: string) =>
        whole.replace(value, this.#standIn(what, like, value)),
      );
    for (const day of days) result = result.replaceAll(`${compact(day)}-`, `${compact(DAY)}-`);
    for (const [where, constant] of CONSTANT) result = result.replace(where, constant);
    return result;
  }

  /** A command of the documents with the values of this run. */
  real(text: string): string {
    let result = text.replaceAll(`${compact(DAY)}-`, `${compact(today)}-`);
    for (const [real, shown] of this.#shown) result = result.replaceAll(shown, real);
    for (const [real, shown] of this.#places) if (shown !== '') result = result.replaceAll(shown, real);
    return result.replaceAll(DAY, today);
  }
}
