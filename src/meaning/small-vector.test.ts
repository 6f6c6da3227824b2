import { expect, it } from 'vitest';
import { emptyBlock, likeness, likenessesInBlock, putInBlock, smallVector } from './small-vector.ts';

it.each([1, 2, 7, 256])('vectors of %i numbers compare in one piece as they do alone', (width) => {
  const vectors = Array.from({ length: 11 }, (_, at) =>
    Float32Array.from({ length: width }, (_number, i) => Math.sin(at * 31 + i)),
  );
  const asked = Float32Array.from({ length: width }, (_, i) => Math.cos(i));
  const block = emptyBlock(vectors.length, width);
  vectors.forEach((vector, index) => putInBlock(block, index, vector));
  const alike = new Float64Array(vectors.length);
  likenessesInBlock(block, asked, 0, 3, alike);
  likenessesInBlock(block, asked, 3, vectors.length, alike);
  for (const [index, vector] of vectors.entries())
    expect(alike[index]).toBeCloseTo(likeness(asked, smallVector(vector)), 5);
});
