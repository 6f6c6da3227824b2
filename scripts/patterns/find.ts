import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { tokensOf } from '../english/tokens.ts';

export interface Pattern {
  file: string;
  line: number;
  source: string;
  flags: string;
}

/** The regular expressions that are written out in a file. */
export function patternsIn(file: string, code: string): Pattern[] {
  // The first line of a program names what runs it.
  const plain = code.replace(/^#!.*/, (first) => ' '.repeat(first.length));
  return tokensOf(plain)
    .filter(({ kind }) => kind === 'regex')
    .map(({ start, end }) => {
      const whole = code.slice(start, end);
      const close = whole.lastIndexOf('/');
      const line = code.slice(0, start).split('\n').length;
      return { file, line, source: whole.slice(1, close), flags: whole.slice(close + 1) };
    });
}

/** The lines where an expression is put together, which has to be listed with an example. */
export function builtIn(code: string): number[] {
  if (!code.includes('RegExp')) return [];
  const tokens = tokensOf(code).filter(({ kind }) => kind !== 'comment');
  return tokens.flatMap(({ kind, text, start }, index) => {
    const next = tokens[index + 1];
    const isBuilt = kind === 'code' && text === 'RegExp' && next?.kind === 'code' && next.text === '(';
    return isBuilt ? [code.slice(0, start).split('\n').length] : [];
  });
}

/** What to say about an expression that some text takes too long; nothing if none does. */
export function complaint({ file, line, source, flags }: Pattern): string | undefined {
  const slow = slowOn(source, flags);
  if (slow === undefined) return undefined;
  const { head, pump, tail } = slow.attack;
  const text = `${JSON.stringify(head)} + ${JSON.stringify(pump)} × n + ${JSON.stringify(tail)}`;
  return `${file}:${line}  /${source}/${flags}\n    ${text}: ${slow.ms.toFixed(1)} ms for ${slow.length} characters\n`;
}

/** What would never end on a long text is seen on a shorter one: each is tried before the next. */
const STEPS = [10, 14, 18, 22, 26, 32, 64, 128, 512];
/** Milliseconds for one of those; what is linear takes a thousandth. */
const CLEARLY_SLOW = 25;
/**
 * Characters of the texts that are compared. On the first two a bound such as `{1,2000}` is as slow as none; the last two
 * show it when only few places of a text are looked at.
 */
const LENGTHS = [1_024, 4_096, 16_384];
/** Milliseconds for the second: what takes less cannot be quadratic. */
const NO_TIME = 0.08;
/** From the first to the second: what grows less has nothing in it that will grow faster than the text. */
const LITTLE_GROWTH = 5.5;
/** Four times the text takes four times as long; sixteen times if it is quadratic. */
const MOST_GROWTH = 9;
const ROUNDS = 7;

interface Slow {
  attack: Attack;
  /** How long the text was, and how long it took. */
  length: number;
  ms: number;
}

/** The first text that an expression takes too long for; nothing if none does. */
function slowOn(source: string, flags: string): Slow | undefined {
  const pattern = new RegExp(source, flags.includes('y') ? flags : `${flags.replace('g', '')}g`);
  for (const attack of attacksOn(shapeOf(source, flags))) {
    const slow = growth(pattern, attack);
    if (slow !== undefined) return slow;
  }
  return undefined;
}

/** The least of several rounds counts: all that disturbs a measurement makes it longer. */
function growth(pattern: RegExp, attack: Attack): Slow | undefined {
  for (const length of STEPS) {
    const text = textOf(attack, length);
    if (wallOf(pattern, text) < CLEARLY_SLOW) continue;
    const ms = leastOf(pattern, text, CLEARLY_SLOW);
    if (ms > CLEARLY_SLOW) return { attack, length, ms };
  }
  const [less, more, most] = LENGTHS.map((length) => textOf(attack, length));
  if (less === undefined || more === undefined || most === undefined) return undefined;
  if (wallOf(pattern, more) < NO_TIME) return undefined;
  const first = compared(pattern, less, more, LITTLE_GROWTH);
  if (first.growth > MOST_GROWTH && first.ms > 1) return { attack, length: more.length, ms: first.ms };
  if (first.growth < LITTLE_GROWTH) return undefined;
  const second = compared(pattern, more, most, MOST_GROWTH);
  return second.growth > MOST_GROWTH && second.ms > 6
    ? { attack, length: most.length, ms: second.ms }
    : undefined;
}

/** How often the time for the shorter text is in that for the longer one, until it is no more than `enough`. */
function compared(
  pattern: RegExp,
  short: string,
  long: string,
  enough: number,
): { growth: number; ms: number } {
  let [least, most] = [Infinity, Infinity];
  for (let round = 0; round < ROUNDS && !(most < least * enough); round += 1) {
    most = Math.min(most, cpuOf(pattern, long));
    least = Math.min(least, Math.max(cpuOf(pattern, short), 0.001));
  }
  return { growth: most / least, ms: most };
}

function leastOf(pattern: RegExp, text: string, enough: number): number {
  let least = Infinity;
  for (let round = 0; round < ROUNDS && least > enough; round += 1) {
    least = Math.min(least, cpuOf(pattern, text));
    // No disturbance makes it that long, and the next round would take as long.
    if (least > 20 * enough) break;
  }
  return least;
}

/** Milliseconds until it is done. The CPU is not busy for longer; to ask for its time takes longer than most matches. */
function wallOf(pattern: RegExp, text: string): number {
  const before = performance.now();
  match(pattern, text);
  return performance.now() - before;
}

function cpuOf(pattern: RegExp, text: string): number {
  const before = process.cpuUsage();
  match(pattern, text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** All matches, as a replacement of all of them would look for. */
function match(pattern: RegExp, text: string): void {
  pattern.lastIndex = 0;
  if (pattern.sticky) pattern.exec(text);
  else text.replace(pattern, '');
}

/** A text that is meant to take long: something that leads into the expression, much of the same, and a bad end. */
interface Attack {
  head: string;
  pump: string;
  tail: string;
}

function textOf({ head, pump, tail }: Attack, length: number): string {
  return `${head}${pump.repeat(Math.ceil(length / pump.length))}${tail}`;
}

/** Ends that hardly any expression takes, or that `.` does not. */
const TAILS = ['\0', '\0\n', '\n\0', ''];
/** The same for a beginning that comes again and again. */
const REPEATED_TAILS = ['\0', '\0\n', '/'];
const PUMPS = [
  ...' ¦\t¦[¦]¦(¦{¦<¦-¦_¦"¦\'¦#¦`¦|¦*¦\\¦/¦.¦:¦=¦!'.split('¦'),
  ...'a¦A¦1¦\n¦\r¦É¦ \n¦a ¦a.¦a-¦a:¦. ¦{{¦**¦\u2028'.split('¦'),
];
const MOST_HEADS = 6;
const MOST_BODIES = 5;
/** What is repeated less often is over before it takes long. */
const SHORT = 10;

function attacksOn(shape: Shape): Attack[] {
  const attacks = new Map<string, Attack>();
  const add = (head: string, pump: string, tails: readonly string[] = TAILS): void => {
    if (pump !== '')
      for (const tail of tails) attacks.set(JSON.stringify([head, pump, tail]), { head, pump, tail });
  };
  const heads = new Set<string>();
  walk(shape, [''], (before, part) => {
    const bodies = textsOf(part);
    for (const head of before) {
      heads.add(head);
      for (const body of bodies) {
        add(head, body);
        // The same beginning again and again, each of which is followed to the end.
        add('', head + body, REPEATED_TAILS);
      }
      add('', head, REPEATED_TAILS);
    }
  });
  // Behind another character, where what is bound to the beginning does not take it all.
  if (heads.size > 0) heads.add('').add('\0');
  for (const head of heads) for (const pump of PUMPS) add(head, pump, ['\0']);
  return [...attacks.values()];
}

/** Calls `found` for all that may be repeated often, with the texts that lead to it. */
function walk(
  shape: Shape,
  before: readonly string[],
  found: (before: readonly string[], part: Shape) => void,
): string[] {
  if (shape.kind === 'one') return joined(before, shape.samples);
  if (shape.kind === 'any') return few(shape.ways.flatMap((way) => walk(way, before, found)));
  if (shape.kind === 'all') {
    let now = [...before];
    for (const part of shape.parts) now = walk(part, now, found);
    return now;
  }
  if (shape.max >= SHORT) found(before, shape.part);
  const once = walk(shape.part, before, found);
  const least = Math.min(shape.min, 40);
  const enough =
    least < 2
      ? once
      : joined(
          before,
          textsOf(shape.part).map((text) => text.repeat(least)),
        );
  return few(shape.min === 0 ? [...before, ...once] : enough);
}

/** Some texts that a part takes. */
function textsOf(shape: Shape): string[] {
  if (shape.kind === 'one') return [...shape.samples];
  if (shape.kind === 'any') return shape.ways.flatMap(textsOf).slice(0, MOST_BODIES);
  if (shape.kind === 'repeat') return shape.min === 0 ? ['', ...textsOf(shape.part)] : textsOf(shape.part);
  return shape.parts.reduce<string[]>((texts, part) => joined(texts, textsOf(part)), ['']);
}

function joined(before: readonly string[], after: readonly string[]): string[] {
  if (after.length === 0) return [...before];
  return few(after.flatMap((end) => before.map((start) => start + end)));
}

function few(texts: readonly string[]): string[] {
  return [...new Set(texts)].slice(0, MOST_HEADS);
}

/** The parts of a regular expression, as far as texts can be made from them that lead into it. */
type Shape =
  | { kind: 'one'; samples: readonly string[] }
  | { kind: 'all'; parts: readonly Shape[] }
  | { kind: 'any'; ways: readonly Shape[] }
  | { kind: 'repeat'; part: Shape; min: number; max: number };

/** Characters that a class or an escape is tried on; those come first that most classes have in common. */
const PALETTE = [
  ...Array.from(' a1-._"A\t*#/<>[]{}():=\\|`\',;!?@~+&%$^\n\r'),
  ...'\u00A0¦\u2028¦É¦é¦’¦→¦—¦📁¦n¦x¦z¦0¦\0'.split('¦'),
];
const MOST_SAMPLES = 4;

const NOTHING: Shape = { kind: 'all', parts: [] };

function shapeOf(source: string, flags: string): Shape {
  return new ShapeReader(source, flags.replace(/[gy]/g, '')).alternatives();
}

class ShapeReader {
  #at = 0;
  readonly #source: string;
  readonly #flags: string;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags;
  }

  alternatives(): Shape {
    const ways: Shape[] = [this.#sequence()];
    while (this.#takes('|')) ways.push(this.#sequence());
    const [only = NOTHING] = ways;
    return ways.length === 1 ? only : { kind: 'any', ways };
  }

  #sequence(): Shape {
    const parts: Shape[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source.charAt(this.#at)))
      parts.push(this.#repeated(this.#atom()));
    return { kind: 'all', parts };
  }

  #takes(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    const found = pattern.exec(this.#source.slice(this.#at)) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  #repeated(part: Shape): Shape {
    const found = this.#match(/^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/);
    if (found === undefined) return part;
    const [whole, least, comma, most] = found;
    if (least !== undefined) {
      const max = most ? Number(most) : comma ? Infinity : Number(least);
      return { kind: 'repeat', part, min: Number(least), max };
    }
    return {
      kind: 'repeat',
      part,
      min: whole.startsWith('+') ? 1 : 0,
      max: whole.startsWith('?') ? 1 : Infinity,
    };
  }

  #atom(): Shape {
    // What looks behind or says what must not come adds nothing to a text that leads into the expression.
    const group = this.#match(/^\((?:\?(?:<?[=!]|:|<[A-Za-z]\w*>))?/)?.[0];
    if (group !== undefined) {
      const inner = this.alternatives();
      this.#takes(')');
      return group.endsWith('!') ? NOTHING : inner;
    }
    if (this.#match(/^(?:[\^$]|\\[bB])/) !== undefined) return NOTHING;
    const back = this.#match(/^\\(?:[1-9]|k<\w+>)/);
    if (back !== undefined) return { kind: 'one', samples: ['"', "'"] };
    const char =
      this.#match(/^\[(?:\\[^]|[^\]\\])*\]/) ??
      this.#match(/^\\(?:[pP]\{[^}]*\}|u\{[\dA-Fa-f]+\}|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|c[A-Z]|[^])/) ??
      this.#match(/^[^]/u);
    return { kind: 'one', samples: this.#samples(char?.[0] ?? '') };
  }

  #samples(char: string): string[] {
    if (!/^[.\\[]/.test(char)) return [char];
    const one = new RegExp(`^${char}$`, this.#flags.replace('m', ''));
    const known = PALETTE.filter((candidate) => one.test(candidate)).slice(0, MOST_SAMPLES);
    if (known.length > 0) return known;
    for (let code = 0; code < 0x30_00; code += 1) {
      const other = String.fromCharCode(code);
      if (one.test(other)) return [other];
    }
    return [];
  }
}
