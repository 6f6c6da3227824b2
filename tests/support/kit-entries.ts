import type { MemoryEntry } from '../../src/model/memory.ts';

/** Nothing else lives, so that every line is the copy of the one that is written. */
export const living = (): Promise<MemoryEntry[]> => Promise.resolve([]);

/** A learning of an agent of the kit project, with what a test changes of it. */
export const entry = (more: Partial<MemoryEntry>): MemoryEntry => ({
  type: 'agent-learnings',
  id: '00000000-0000-5000-8000-000000000001',
  agent: 'stack',
  text: 'Lancer les migrations avant les tests',
  tags: [],
  project: 'bmad-corner-shop',
  createdAt: '2026-05-04T12:00:00.000Z',
  updatedAt: '2026-05-04T12:00:00.000Z',
  revision: 1,
  ...more,
});
