import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/services/memory/sqlite/store.ts';
import { childProgram } from '../support/child-program.ts';
import { memory, storeOptions } from './places.ts';

const HOLDER = 'tests/memory/holder.ts';

/** A process that has the file to itself, and asks until this process has answered everything. */
async function held(file: string, onHeld: () => void): Promise<string[]> {
  const child = spawn(process.execPath, [await childProgram(HOLDER), file]);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    if (line === 'held') onHeld();
    if (line === 'held' || line === 'question') child.stdin.write('answer\n');
  });
  await new Promise((resolve) => void child.once('close', resolve));
  expect(stderr).toBe('');
  return lines;
}

describe('a database that another process keeps to itself', () => {
  it('is waited for without holding up anything else while it is opened', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'bmad-busy-')), 'memory.db');
    let opening: ReturnType<typeof openSqliteStore> | undefined;
    const lines = await held(file, () => {
      opening = openSqliteStore({ ...storeOptions(), file });
      opening.catch(() => undefined);
    });
    // It lets go by itself only when nobody has answered it, that is, when this process stood still.
    expect(lines.at(-1)).toBe('let go');
    const store = await opening;
    await store?.upsert([memory('a', 'Written after the wait.')]);
    expect(await store?.count({})).toBe(1);
    await store?.close();
  });

  it('is waited for in the same way while it is read and written', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'bmad-busy-')), 'memory.db');
    const first = await openSqliteStore({ ...storeOptions(), file, journal: 'delete' });
    await first.upsert([memory('a', 'There before.')]);
    let calls: Promise<unknown[]> | undefined;
    const lines = await held(file, () => {
      calls = Promise.all([first.upsert([memory('b', 'Waits.')]), first.list({}, { limit: 5 })]);
      calls.catch(() => undefined);
    });
    expect(lines.at(-1)).toBe('let go');
    await calls;
    expect(await first.count({})).toBe(2);
    await first.close();
  });
});
