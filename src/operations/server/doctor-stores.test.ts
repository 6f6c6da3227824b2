import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sqliteDriver } from '../../services/memory/sqlite/driver.ts';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { stepLines } from '../../base/step.ts';
import { commandLine } from '../command-line.ts';
import { doctor } from './doctor.ts';

const STORE = '_bmad/_memory/.bmad-memory/.bmad-memory';

type Harm = (store: string) => Promise<void>;

async function sql(path: string, text: string): Promise<void> {
  const connection = (await sqliteDriver()).connect(path, 1_000);
  connection.exec(text);
  connection.close();
}

const HARMS: [string, 'sqlite' | 'jsonl', Harm, RegExp][] = [
  ['damaged', 'sqlite', (store) => writeFile(`${store}.db`, 'junk '.repeat(2_000)), /is damaged/],
  ['newer', 'sqlite', (store) => sql(`${store}.db`, 'PRAGMA user_version=99'), /newer version/],
  ['not ours', 'sqlite', (store) => sql(`${store}.db`, 'CREATE VIEW v AS SELECT 1'), /not a memory database/],
  ['unreadable', 'sqlite', (store) => mkdir(`${store}.db`), /cannot be opened/],
  ['damaged', 'jsonl', (store) => writeFile(`${store}.jsonl`, 'junk\n'), /not a memory log/],
  [
    'newer',
    'jsonl',
    (store) => writeFile(`${store}.jsonl`, '{"log":"bmad-memory","version":99}\n'),
    /newer version/,
  ],
];

describe('doctor', () => {
  it.each(HARMS)('says that a memory store is %s (%s) (R-09)', async (_what, engine, harm, words) => {
    const session = await memorySession(afterAll, { flags: { embedder: 'none', memoryEngine: engine } });
    const before = await session.ok(doctor, { handshake: false });
    expect(before.failed).toBe(false);
    const store = join(session.folder, STORE);
    await rm(dirname(store), { recursive: true, force: true });
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

  it('names the daily copy that can take its place (R-09)', async () => {
    const session = await memorySession(afterAll);
    await session.remember('decisions', 'dev', 'Worth a copy of its own');
    // What a copy makes, made at once.
    const { memoryForget } = await import('../memory/memory-change.ts');
    const { memoryPurge } = await import('../memory/memory-purge.ts');
    const id = await session.remember('decisions', 'dev', 'This one has to go');
    await session.ok(memoryForget, { id });
    await session.ok(memoryPurge, { ids: [id], apply: true });
    await writeFile(join(session.folder, `${STORE}.db`), 'junk '.repeat(2_000));
    const { answer } = await session.ok(doctor, { handshake: false });
    const today = new Date().toISOString().slice(0, 10);
    expect(stepLines(answer.steps ?? [], commandLine).join('\n')).toContain(
      `bmad memory copies --restore ${today}`,
    );
  });

  it('says that the project is gone, and still speaks (R-10)', async () => {
    const session = await memorySession(afterAll, { home: '/nonexistent-home' });
    await session.ok(doctor, { handshake: false });
    await rm(session.folder, { recursive: true });
    const { data } = await session.ok(doctor, { handshake: false });
    expect(data['problems']).toEqual([`The project folder ${session.folder} no longer exists.`]);
  });
});
