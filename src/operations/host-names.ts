import { sha256 } from '../base/sha256.ts';
import { cut } from '../base/text/text.ts';
import { withoutEnd, withoutEnds } from '../base/text/ends.ts';

/** A name in the characters every host takes; what is left of a name in another script may be nothing. */
export function hostName(name: string): string {
  return withoutEnds(name.toLowerCase().replace(/[^a-z0-9_]+/g, '-'), '-');
}

export interface Naming<T> {
  /** Possible names, the best first; parts of it that are empty make it impossible. */
  ways(item: T): readonly (readonly string[])[];
  /** What it is, in words that stay the same whatever else there is. */
  identity(item: T): string;
  maxLength: number;
  taken?: readonly string[];
}

/**
 * Gives each thing a name of its own, in order. Names do not depend on what comes later, so that they stay when
 * something is added at the end; where every way is taken or too long, a mark of its identity is part of the name.
 */
export function assignNames<T>(items: readonly T[], naming: Naming<T>): Map<string, T> {
  const taken = new Set(naming.taken);
  const named = new Map<string, T>();
  for (const item of items) {
    const ways = naming.ways(item).map((parts) => parts.map(hostName));
    const free = ways
      .filter((parts) => !parts.includes(''))
      .map((parts) => parts.join('-'))
      .find((name) => name.length <= naming.maxLength && !taken.has(name));
    const name = free ?? marked(ways[0] ?? [], naming.identity(item), naming.maxLength);
    taken.add(name);
    named.set(name, item);
  }
  return named;
}

function marked(parts: readonly string[], identity: string, maxLength: number): string {
  const mark = sha256(identity).slice(0, 8);
  const rest = withoutEnd(cut(parts.filter(Boolean).join('-'), maxLength - mark.length - 1), '-');
  return `${rest}-${mark}`;
}
