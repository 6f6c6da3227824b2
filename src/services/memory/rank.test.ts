import { describe, expect, it } from 'vitest';
import type { MemoryEntry } from '../../model/memory.ts';
import { fused, ranked, weighed } from './rank.ts';

const at = '2026-01-01T00:00:00Z';
const entry = (id: string): MemoryEntry => ({
  type: 'decisions',
  id,
  agent: 'dev',
  text: 'Said',
  tags: [],
  project: 'shop',
  createdAt: at,
  updatedAt: at,
  revision: 1,
});

describe('the fusion of meaning and words', () => {
  it('lets one common word by chance not outweigh the meaning, and all words decide', () => {
    expect(fused(0.4, 0)).toBeGreaterThan(fused(0.35, 0.4));
    expect(fused(0.4, 0)).toBeLessThan(fused(0.1, 1));
  });

  it('judges by words alone what has no vector yet', () => {
    expect(fused(undefined, 0.5)).toBeGreaterThan(fused(0, 0.5));
  });

  it('puts the story that has the number first, however near the others are', () => {
    const query = weighed(['story', '1.3', 'login'], (term) => (term === '1.3' ? 1 : 3), 3);
    const hits = ranked(
      query,
      [
        { entry: entry('a'), terms: ['story', '1.4', 'login', 'form'], cosine: 0.72 },
        { entry: entry('b'), terms: ['story', '3.1', 'login', 'form'], cosine: 0.71 },
        { entry: entry('c'), terms: ['story', '1.3', 'session'], cosine: 0.5 },
      ],
      { vector: new Float32Array(1), limit: 3 },
    );
    expect(hits.map((hit) => hit.entry.id)).toEqual(['c', 'a', 'b']);
  });
});
