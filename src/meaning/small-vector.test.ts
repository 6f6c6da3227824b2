import { expect, it } from 'vitest';
import { emptyBlock, likeness, likenessInBlock, putInBlock, smallVector } from './small-vector.ts';

it.each([1, 2, 7, 256])('vectors of %i numbers compare in one piece as they do alone', (width) => {
  const vectors = Array.from({ length: 5 }, (_, at) =>
    Float32Array.from({ length: width }, (_number, i) => Math.sin(at * 31 + i)),
  );
  const asked = Float32Array.from({ length: width }, (_, i) => Math.cos(i));
  const block = emptyBlock(vectors.length, width);
  vectors.forEach((vector, index) => putInBlock(block, index, vector));
  for (const [index, vector] of vectors.entries())
    expect(likenessInBlock(block, asked, index)).toBeCloseTo(likeness(asked, smallVector(vector)), 5);
});
