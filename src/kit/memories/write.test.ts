import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/kit-project.ts';
import type { MemoryEntry } from '../../model/memory.ts';
import { kitIn } from '../../../tests/support/kit.ts';
import { KitFiles } from './read-all.ts';
import { type KitWriting, removeFromKitFiles, writeKitFiles } from './write.ts';

const entry: MemoryEntry = {
  type: 'decisions',
  id: '00000000-0000-5000-8000-000000000001',
  agent: 'dev',
  text: 'Kafka for the events',
  tags: [],
  project: 'bmad-shop',
  createdAt: '2026-05-04T12:00:00.000Z',
  updatedAt: '2026-05-04T12:00:00.000Z',
  revision: 1,
};

async function project(files: Record<string, string>): Promise<KitWriting & { memory: string }> {
  const root = await temporaryFolder(afterAll);
  await writeFiles(root, { '_bmad/_memory/x.md': '', ...files });
  return {
    kit: await kitIn(root),
    agents: [],
    locks: join(root, 'locks'),
    living: () => Promise.resolve([]),
    memory: join(root, '_bmad/_memory'),
  };
}

describe('a file that we cannot write back as it was', () => {
  it.each([
    ['Latin-1', Buffer.from('- [2026-05-04] D\u00e9cision\n- [2026-05-04] Kafka for the events\n', 'latin1')],
    ['UTF-16', Buffer.from('\uFEFF- [2026-05-04] Kafka for the events\n', 'utf16le')],
  ])('is left alone and told: a log in %s', async (_, bytes) => {
    const writing = await project({});
    const log = join(writing.memory, 'decisions-log.md');
    await writeFile(log, bytes);
    const told = '_bmad/_memory/decisions-log.md was left unchanged: it is not UTF-8.';
    const written = await writeKitFiles(
      writing,
      { ...entry, text: 'Another' },
      { earlier: [entry], mode: 'local' },
    );
    expect(written).toEqual({ files: ['_bmad/_memory/memories.json'], problems: [told], complete: true });
    expect(await removeFromKitFiles(writing, entry)).toEqual(written);
    expect(await readFile(log)).toEqual(bytes);
    expect((await new KitFiles(writing.kit).read()).problems.join()).toContain('is not UTF-8');
  });

  it('is left alone and told: a list of memories inside an object', async () => {
    const table = { id: 1, memory: entry.text, metadata: { type: entry.type, uuid: entry.id } };
    const text = JSON.stringify({ version: 2, memories: [table] });
    const writing = await project({ '_bmad/_memory/memories.json': text });
    const { files, problems } = await removeFromKitFiles(writing, entry);
    expect(files).toEqual([]);
    expect(problems.join()).toContain('its format is not recognized');
    expect(await readFile(join(writing.memory, 'memories.json'), 'utf8')).toBe(text);
  });

  it('keeps its byte order mark when a line goes', async () => {
    const writing = await project({ '_bmad/_memory/decisions-log.md': '\uFEFF# Décisions\n' });
    await writeKitFiles(writing, entry, { mode: 'local' });
    await removeFromKitFiles(writing, entry);
    expect(await readFile(join(writing.memory, 'decisions-log.md'), 'utf8')).toBe('\uFEFF# Décisions\n');
  });
});
