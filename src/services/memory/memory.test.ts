import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { memoryForget, memorySupersede, memoryUpdate } from '../../operations/memory/memory-operations.ts';

const files = { '_bmad/_memory/decisions-log.md': '# Decisions Log\n\n- [2024-01-02] Ports begin at 4000\n' };
const session = await memorySession(afterAll, { files });
const file = join(session.folder, '_bmad/_memory/decisions-log.md');
const log = (): Promise<string> => readFile(file, 'utf8');

describe('the lines of the project when a memory goes', () => {
  it('stay where a person wrote them', async () => {
    const id = await session.remember('decisions', 'dev', 'Ports begin at 4000');
    await session.ok(memoryForget, { id });
    expect(await log()).toBe(files['_bmad/_memory/decisions-log.md']);
  });

  it('stay as long as another memory says the same', async () => {
    const first = await session.remember('decisions', 'dev', 'Queues are drained at midnight');
    const second = await session.remember('decisions', 'sm', 'Queues are drained at midnight');
    await session.ok(memoryForget, { id: first });
    expect(await log()).toContain('Queues are drained');
    await session.ok(memoryUpdate, { id: second, text: 'Queues are drained at noon instead' });
    expect(await log()).not.toContain('midnight');
  });

  it('stay when it is superseded, and are not recalled', async () => {
    const id = await session.remember('decisions', 'dev', 'Backups go to the cellar');
    await session.ok(memorySupersede, { id });
    expect(await log()).toContain('Backups go to the cellar');
    expect(await session.recall('backups cellar')).toEqual([]);
    const json = await readFile(join(session.folder, '_bmad/_memory/memories.json'), 'utf8');
    expect(json).not.toContain(id);
  });

  it('are told of when their file cannot be written back', async () => {
    const id = await session.remember('decisions', 'dev', 'Caches are warmed at start');
    const bytes = Buffer.concat([await readFile(file), Buffer.from([0xe9, 0x0a])]);
    await writeFile(file, bytes);
    const { answer } = await session.ok(memoryForget, { id });
    expect(JSON.stringify(answer)).toContain('was left unchanged: it is not UTF-8');
    expect(await readFile(file)).toEqual(bytes);
  });
});
