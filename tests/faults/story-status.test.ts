import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { setStatus } from '../../src/services/progress/story-status.ts';
import { temporaryFolder } from '../support/app.ts';
import { onFaultyDisk } from '../support/faulty-disk.ts';
import { writeFiles } from '../support/folders.ts';
import { impl, ledger, story } from '../support/progress-trees/pieces.ts';

const LEDGER = `${impl}/sprint-status.yaml`;
const STORY = `${impl}/1-1-setup.md`;
const FILES = {
  [LEDGER]: ledger({ 'epic-1': 'backlog', '1-1-setup': 'ready-for-dev' }),
  [STORY]: story('1.1', 'ready-for-dev'),
};

describe('a disk that fails while the status of a story is set', () => {
  it.each(['error', 'full', 'short'] as const)(
    'leaves ledger and file both as they were, or both changed: %s',
    async (kind) => {
      const folder = await temporaryFolder(afterAll);
      const state = async (): Promise<string> => {
        const [row, file] = await Promise.all(
          [LEDGER, STORY].map((path) => readFile(join(folder, path), 'utf8')),
        );
        return `${/1-1-setup: (\S+)/.exec(row ?? '')?.[1]} ${/Status: (\S+)/.exec(file ?? '')?.[1]}`;
      };
      const at = async (n: number) => {
        await writeFiles(folder, FILES);
        return onFaultyDisk({ kind, n, folder }, () =>
          setStatus(folder, { story: '1.1', status: 'review', now: new Date() }),
        );
      };
      const { calls } = await at(Infinity);
      expect(await state()).toBe('review review');
      for (let n = 1; n <= calls.length; n += 1) {
        const { error } = await at(n);
        const possible =
          error === undefined ? ['review review'] : ['review review', 'ready-for-dev ready-for-dev'];
        expect(possible, `${kind} at ${n} (${calls[n - 1]})`).toContain(await state());
        const left = (await readdir(join(folder, impl))).filter((name) => name.endsWith('.tmp'));
        expect(left, `${kind} at ${n} (${calls[n - 1]})`).toEqual([]);
      }
    },
  );
});
