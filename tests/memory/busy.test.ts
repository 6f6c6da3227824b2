import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { childProgram } from '../support/child-program.ts';
import { memory } from './places.ts';
import { openLines, partsOf } from './processes.ts';

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
    const folder = await temporaryFolder(onTestFinished);
    let opening: Promise<unknown> | undefined;
    const store = await openLines('sqlite', folder);
    const lines = await held(partsOf(folder).index, () => {
      opening = store.count({});
      opening.catch(() => undefined);
    });
    // It lets go by itself only when nobody has answered it, that is, when this process stood still.
    expect(lines.at(-1)).toBe('let go');
    await opening;
    await store.upsert([memory('a', 'Written after the wait.')]);
    expect(await store.count({})).toBe(1);
    await store.close();
  });

  it('is waited for in the same way while it is read and written', async () => {
    const folder = await temporaryFolder(onTestFinished);
    const first = await openLines('sqlite', folder, { journal: 'delete' });
    await first.upsert([memory('a', 'There before.')]);
    let calls: Promise<unknown[]> | undefined;
    const lines = await held(partsOf(folder).index, () => {
      calls = Promise.all([first.upsert([memory('b', 'Waits.')]), first.list({}, { limit: 5 })]);
      calls.catch(() => undefined);
    });
    expect(lines.at(-1)).toBe('let go');
    await calls;
    expect(await first.count({})).toBe(2);
    await first.close();
  });
});
