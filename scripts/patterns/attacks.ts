import type { Shape } from './shape.ts';

/** A text that is meant to take long: something that leads into the expression, much of the same, and a bad end. */
export interface Attack {
  head: string;
  pump: string;
  tail: string;
}

export function textOf({ head, pump, tail }: Attack, length: number): string {
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

export function attacksOn(shape: Shape): Attack[] {
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
