import { createHash } from 'node:crypto';

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
