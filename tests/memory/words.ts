import { createHash } from 'node:crypto';
import type { Analyser } from '../../src/meaning/analyse.ts';
import type { VectorSpace } from '../../src/services/memory/engine.ts';

/** A plain analyser and embedder for the stores' tests: each word is a direction of its own, more or less. */

export const analyser: Analyser = {
  id: 'plain-1',
  terms: (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [],
};

export const space: VectorSpace = { embedder: 'hashed-words', dim: 32 };
export const otherSpace: VectorSpace = { embedder: 'other-words', dim: 24 };

export function embedded(text: string, { embedder, dim }: VectorSpace = space): Float32Array {
  const vector = new Float32Array(dim);
  for (const word of analyser.terms(text)) {
    const hash = createHash('sha256').update(`${embedder}:${word}`).digest();
    for (let index = 0; index < dim; index++)
      vector[index] = (vector[index] ?? 0) + (hash[index] ?? 0) / 127.5 - 1;
  }
  return vector;
}
