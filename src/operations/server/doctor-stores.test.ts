import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sqliteDriver } from '../../services/memory/sqlite/database.ts';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { doctor } from './doctor.ts';

const STORE = '_bmad/_memory/.bmad-memory/.bmad-memory';

type Harm = (store: string) => Promise<void>;

async function sql(path: string, text: string): Promise<void> {
  const connection = (await sqliteDriver()).connect(path, 1_000);
  connection.exec(text);
  connection.close();
}

const LEFT = /of an earlier version cannot be read. It was left unchanged/;

/** What versions before have kept, and lines, in ways that cannot be read. */
const HARMS: [string, Harm, RegExp][] = [
  ['a damaged database', (store) => writeFile(`${store}.db`, 'junk '.repeat(2_000)), LEFT],
  ['the database of somebody else', (store) => sql(`${store}.db`, 'CREATE VIEW v AS SELECT 1'), LEFT],
  ['something that is no log', (store) => writeFile(`${store}.jsonl`, 'junk\n'), LEFT],
  [
    'half a line',
    async (store) => {
      const day = join(dirname(store), '2026-03-05');
      await mkdir(day);
      await writeFile(join(day, 'else-0123456789ab.jsonl'), '{"v":1,"id"\n');
    },
    /has 1 line that cannot be read/,
  ],
  [
    'the marks of a conflict',
    async (store) => {
      const day = join(dirname(store), '2026-03-05');
      await mkdir(day);
      await writeFile(join(day, 'else-0123456789ab.jsonl'), '<<<<<<< HEAD\n=======\n>>>>>>> other\n');
    },
    /2026-03-05\/else-0123456789ab.jsonl has conflict markers of git/,
  ],
];

describe('doctor', () => {
  it.each(HARMS)('says that the memories have %s (R-09)', async (_what, harm, words) => {
    const session = await memorySession(afterAll);
    const store = join(session.folder, STORE);
    await mkdir(dirname(store), { recursive: true });
    await harm(store);
    const { data, answer, failed } = await session.ok(doctor, { handshake: false });
    expect(failed).toBe(true);
    expect(data['findings']).toContainEqual({
      level: 'broken',
      about: 'memory-store',
      text: expect.stringMatching(words) as string,
    });
    expect(answer.note).toContain('Something is broken');
  });

  it('says that the project is gone, and still speaks (R-10)', async () => {
    const session = await memorySession(afterAll, { home: '/nonexistent-home' });
    await session.ok(doctor, { handshake: false });
    await rm(session.folder, { recursive: true });
    const { data } = await session.ok(doctor, { handshake: false });
    expect(data['problems']).toEqual([`The project folder ${session.folder} no longer exists.`]);
  });
});
