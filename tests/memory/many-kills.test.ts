import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { killTrial } from './processes.ts';

const ROUNDS = 100;
const WRITERS = 8;

describe.each(['sqlite', 'memory'] as const)(
  'a hundred rounds of writers that are killed, with an index in %s',
  (kind) => {
    it('lose nothing that was acknowledged, and have nothing twice (F-01)', async () => {
      const folder = await temporaryFolder(onTestFinished);
      const { acknowledged, ...found } = await killTrial(kind, folder, WRITERS, ROUNDS);
      expect(found).toEqual({ lost: [], twice: 0, notes: [] });
      expect(acknowledged).toBeGreaterThan(ROUNDS * WRITERS);
    }, 3_600_000);
  },
);
