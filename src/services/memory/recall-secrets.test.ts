import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { inStoreOf } from '../../../tests/memory/open-project.ts';
import { memorySession, type MemorySession } from '../../../tests/support/memory-session.ts';
import {
  memoryForget,
  memoryGet,
  memoryList,
  memorySupersede,
  memoryUpdate,
} from '../../operations/memory/memory-operations.ts';
import { memoryExport, memoryImport } from '../../operations/memory/memory-upkeep.ts';
import { recallStructured } from '../../operations/memory/recall-structured.ts';
import { rememberStructured } from '../../operations/memory/remember.ts';
import { readResource } from '../../operations/client/resources.ts';

it('masks what files of the project have and should not', async () => {
  const session = await memorySession(afterAll);
  const file = join(session.folder, '_bmad/_memory/atlas-learnings.md');
  await writeFile(
    file,
    '- [2026-01-02] The staging zebra has DB_PASSWORD=hunter2hunter2 and ghp_abcdefghijklmnopqrstuvwxyz0123\n',
  );
  const hits = await session.recall('staging zebra');
  expect(hits.length).toBeGreaterThan(0);
  expect(JSON.stringify(hits)).toContain('DB_PASSWORD=***');
  expect(JSON.stringify(hits)).not.toMatch(/hunter2|abcdefghij/);
});

describe('what others put into the store', () => {
  const LEAKED = /hunter2|abcdefghij/;
  const id = '00000000-0000-5000-8000-00000000000a';
  const key = { type: 'decisions', id } as const;

  /** As tools that check nothing leave it on a shared server: the engine itself takes any text. */
  async function leaky(): Promise<MemorySession> {
    const session = await memorySession(afterAll);
    const at = '2026-01-02T00:00:00.000Z';
    const tags = ['ghp_abcdefghijklmnopqrstuvwxyz0123'];
    await inStoreOf(session.folder, async (store) => {
      await store.upsert([{ ...key, agent: 'ops', text: 'Zebra had DB_PASSWORD=hunter2before', tags, at }]);
      await store.update(key, { text: 'The staging zebra has mot de passe : hunter2hunter2', at });
    });
    return session;
  }

  it.each([
    ['memory get', memoryGet, { id }],
    ['memory list', memoryList, {}],
    ['memory export', memoryExport, {}],
    ['memory export --format jsonl', memoryExport, { format: 'jsonl' }],
    ['recall', recallStructured, { query: 'staging zebra' }],
    ['recall by id', recallStructured, { query: id }],
    ['resource of a type', readResource, { uri: 'bmad://memory/decisions' }],
    ['resource of one', readResource, { uri: `bmad://memory/decisions/${id}` }],
    ['memory update', memoryUpdate, { id, agent: 'dev' }],
    ['memory supersede', memorySupersede, { id }],
    ['memory forget', memoryForget, { id }],
  ])('is masked by %s', async (_, operation, input) => {
    const session = await leaky();
    const { data, answer } = await session.ok(operation, input);
    expect(JSON.stringify(data)).toContain('mot de passe : ***');
    expect(JSON.stringify([data, answer])).not.toMatch(LEAKED);
    for (const name of ['decisions-log.md', 'memories.json', 'activity.jsonl'])
      expect(await readFile(join(session.folder, '_bmad/_memory', name), 'utf8')).not.toMatch(LEAKED);
  });

  it('is masked where it is like what is remembered, or was its wording before', async () => {
    const session = await leaky();
    const given = {
      type: 'decisions',
      agent: 'ops',
      text: 'The staging zebra never has mot de passe : hunter2',
    };
    const { data, answer } = await session.ok(rememberStructured, given);
    expect(data['similar']).toMatchObject([{ id, relation: 'about the same' }]);
    expect(JSON.stringify([data, answer])).not.toMatch(LEAKED);
  });

  it('is masked in an export, which brings the same memories back', async () => {
    const session = await leaky();
    const { data } = await session.ok(memoryExport, { format: 'jsonl' });
    const file = join(session.folder, 'all.jsonl');
    await writeFile(file, String(data['text']));
    const other = await memorySession(afterAll);
    await other.ok(memoryImport, { file });
    expect((await other.ok(memoryGet, { id })).data).toMatchObject({ revisions: [{ revision: 1 }] });
  });
});
