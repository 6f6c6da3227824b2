import { spawn } from 'node:child_process';
import { copyFile, readdir, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { withLock } from '../../src/base/files/file-lock.ts';
import type { RecallQuestion } from '../../src/services/memory/recall.ts';
import type { Memory } from '../../src/services/memory/memory.ts';
import { temporaryFolder } from '../support/app.ts';
import { childProgram } from '../support/child-program.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { inStoreOf, openProject } from './open-project.ts';

/** The store is written first and the files of the project after it: here a process dies in between. */

const changer = await childProgram('tests/memory/changer.ts');
const OLD = 'The zebra queue is drained at midnight';
const NEW = 'The zebra queue is drained at noon, after the reports';

async function project(): Promise<{ root: string; memory: Memory; file(name: string): Promise<string> }> {
  const root = await temporaryFolder(afterAll);
  await writeFiles(root, KIT_FILES);
  const memory = await openProject(root);
  afterAll(() => memory.close());
  return { root, memory, file: (name) => readFile(join(root, '_bmad/_memory', name), 'utf8') };
}

const ask = (query: string): RecallQuestion => ({ query, limit: 10 });

async function texts(memory: Memory, query: string): Promise<string[]> {
  return (await memory.recall(ask(query), undefined)).hits.map(({ entry }) => entry.text);
}

/** Runs a change in a process of its own and kills it when the store has it, while the files are kept from it. */
async function killed(memory: Memory, stored: () => Promise<boolean>, ...args: string[]): Promise<void> {
  await withLock(join(memory.place.folder, 'kit-files.lock'), { waitMs: 5_000 }, async () => {
    const child = spawn(process.execPath, [changer, ...args], { stdio: 'ignore' });
    const ended = new Promise((resolve) => void child.once('close', resolve));
    try {
      await vi.waitFor(async () => expect(await stored()).toBe(true), { timeout: 120_000, interval: 20 });
    } finally {
      child.kill('SIGKILL');
      await ended;
    }
  });
}

const remembered = async (memory: Memory, text: string, agent = 'dev') =>
  (await memory.remember({ type: 'decisions', agent, text })).entry;

describe('a process killed between the store and the files', () => {
  it('leaves an old line that nobody is shown, and that the next write removes', async () => {
    const { root, memory, file } = await project();
    const { id } = await remembered(memory, OLD);
    await killed(memory, async () => (await memory.get(id)).entry.text === NEW, root, 'update', id, NEW);
    expect(await file('decisions-log.md')).toContain(OLD);
    expect(await file('memories.json')).toContain(OLD);
    expect(await texts(memory, 'zebra queue drained')).toEqual([NEW]);
    expect(await texts(memory, 'midnight')).toEqual([]);
    await remembered(memory, 'Something about an entirely different matter');
    for (const name of ['decisions-log.md', 'memories.json']) {
      expect(await file(name)).not.toContain(OLD);
      expect((await file(name)).split(NEW)).toHaveLength(2);
    }
    expect(await readdir(join(memory.place.folder, 'unfinished'))).toEqual([]);
  });

  it('is completed by the next process that opens the memory', async () => {
    const { root, memory, file } = await project();
    const { id } = await remembered(memory, OLD);
    await killed(
      memory,
      async () => (await memory.get(id)).entry.forgottenAt !== undefined,
      root,
      'forget',
      id,
    );
    expect(await file('decisions-log.md')).toContain(OLD);
    const other = await openProject(root);
    expect(await texts(other, 'zebra queue')).toEqual([]);
    await other.close();
    expect(await file('decisions-log.md')).not.toContain(OLD);
    expect(await file('memories.json')).not.toContain(OLD);
  });

  it('has what it first remembered written by the next one', async () => {
    const { root, memory, file } = await project();
    const before = await memory.count({});
    await killed(memory, async () => (await memory.count({})) > before, root, 'remember', OLD);
    expect(await file('decisions-log.md')).not.toContain(OLD);
    const other = await openProject(root);
    await other.status();
    await other.close();
    expect((await file('decisions-log.md')).split(OLD)).toHaveLength(2);
    expect((await file('memories.json')).split(OLD)).toHaveLength(2);
  });

  it('is left alone in read-only mode', async () => {
    const { root, memory, file } = await project();
    const { id } = await remembered(memory, OLD);
    await killed(memory, async () => (await memory.get(id)).entry.text === NEW, root, 'update', id, NEW);
    const other = await openProject(root, { writes: false });
    expect(await texts(other, 'zebra queue')).toEqual([NEW]);
    await other.close();
    expect(await file('decisions-log.md')).toContain(OLD);
  });
});

describe('files that say what a memory said before', () => {
  /** As another machine on the same store leaves it: nothing here tells that the files were not written. */
  async function changedElsewhere(root: string, id: string, text: string): Promise<void> {
    await inStoreOf(root, (store) =>
      store.update({ type: 'decisions', id }, { text, at: new Date().toISOString() }),
    );
  }

  it('are hidden at once', async () => {
    const { root, memory } = await project();
    const { id } = await remembered(memory, OLD);
    await changedElsewhere(root, id, 'The zebra queue is drained at dawn');
    await changedElsewhere(root, id, NEW);
    expect(await texts(memory, 'zebra queue')).toEqual([NEW]);
  });

  it('are hidden from whoever looks through all of a type, whatever the case of the agent', async () => {
    const { root, memory } = await project();
    const given = { type: 'agent-learnings', agent: 'ÉLODIE', text: OLD } as const;
    const { entry } = await memory.remember(given);
    await inStoreOf(root, (store) => store.update(entry, { text: NEW, at: new Date().toISOString() }));
    const { entries } = await memory.browse('agent-learnings', ['E\u0301lodie']);
    expect(entries.map((each) => each.entry.text)).toEqual([NEW]);
  });

  it('lose all earlier versions when the memory itself is written again', async () => {
    const { root, memory, file } = await project();
    const { id } = await remembered(memory, OLD);
    await changedElsewhere(root, id, NEW);
    await memory.update(id, undefined, { text: 'The zebra queue is drained at dusk' });
    expect(await file('decisions-log.md')).not.toContain(OLD);
    expect((await file('decisions-log.md')).split('at dusk')).toHaveLength(2);
  });

  it('keep what a person wrote, and what another memory still says', async () => {
    const { root, memory, file } = await project();
    const { id } = await remembered(memory, OLD);
    const { id: other } = await remembered(memory, OLD, 'architect');
    await changedElsewhere(root, id, NEW);
    await memory.update(id, undefined, { text: 'The zebra queue is drained at dusk' });
    expect(await file('decisions-log.md')).toContain(OLD);
    expect((await memory.recall(ask('midnight'), undefined)).hits[0]?.entry.id).toBe(other);
    const untouched = KIT_FILES['_bmad/_memory/decisions-log.md'] ?? '';
    expect((await file('decisions-log.md')).startsWith(untouched)).toBe(true);
  });
});

describe('the list that the kit keeps', () => {
  it('is kept once more before each change, so that it can be put back by hand', async () => {
    const { root, memory, file } = await project();
    await remembered(memory, OLD);
    const before = await file('memories.json');
    const { id } = await remembered(memory, NEW);
    const { lines, notes } = await memory.status();
    const kept = join(lines.mirror?.place ?? '', 'memories.json');
    expect(await readFile(kept, 'utf8')).toBe(before);
    expect(notes.join()).not.toContain(kept);

    const list = join(root, '_bmad/_memory/memories.json');
    await truncate(list, 100);
    expect([...(await memory.status()).notes, ...(await memory.faults())]).toEqual(
      expect.arrayContaining([
        `_bmad/_memory/memories.json is gone or cannot be read. As it was before the last change, it is in ${kept}.`,
      ]),
    );
    // A broken one is neither changed nor kept.
    await remembered(memory, 'A third one, about the heron');
    expect(await readFile(kept, 'utf8')).toBe(before);

    await truncate(list, 0);
    await remembered(memory, 'A fourth one, about the stork');
    expect(await readFile(kept, 'utf8')).toBe(before);
    await copyFile(kept, list);
    expect((await memory.status()).notes.join()).not.toContain(kept);
    await memory.update(id, undefined, { tags: ['again'] });
    for (const text of [OLD, NEW]) expect(await file('memories.json')).toContain(text);
  });

  it('loses in both places what is removed for good', async () => {
    const { memory, file } = await project();
    const { id } = await remembered(memory, OLD);
    await remembered(memory, NEW);
    await memory.forget(id);
    const kept = join((await memory.status()).lines.mirror?.place ?? '', 'memories.json');
    expect(await readFile(kept, 'utf8')).toContain(OLD);
    await memory.purge({ ids: [id], apply: true });
    for (const text of [await readFile(kept, 'utf8'), await file('memories.json')]) {
      expect(text).not.toContain(OLD);
      expect(text).toContain(NEW);
    }
  });
});
