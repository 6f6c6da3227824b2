import type { Phrase } from './vocabulary-lines.ts';
import { PHRASES } from './vocabulary.prepared.ts';

/** What the method's own words mean, by the first term, the longest first. */
export type Vocabulary = ReadonlyMap<string, readonly Phrase[]>;

let made: Vocabulary | undefined;

/** Made when it is first asked for. */
export function vocabulary(): Vocabulary {
  return (made ??= new Map(PHRASES));
}
