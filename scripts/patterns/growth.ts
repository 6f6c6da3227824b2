import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { attacksOn, textOf, type Attack } from './attacks.ts';
import { shapeOf } from './shape.ts';

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
const NOTHING = 0.08;
/** From the first to the second: what grows less has nothing in it that will grow faster than the text. */
const LITTLE_GROWTH = 5.5;
/** Four times the text takes four times as long; sixteen times if it is quadratic. */
const MOST_GROWTH = 9;
const ROUNDS = 7;

export interface Slow {
  attack: Attack;
  /** How long the text was, and how long it took. */
  length: number;
  ms: number;
}

/** The first text that an expression takes too long for; nothing if none does. */
export function slowOn(source: string, flags: string): Slow | undefined {
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
  if (wallOf(pattern, more) < NOTHING) return undefined;
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
