import { readdir } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { contextIn, temporaryFolder } from '../support/app.ts';
import { memorySession } from '../support/memory-session.ts';

const flags = { embedder: 'static' };
const QUESTION = { alternatives: [], types: [], tags: [], limit: 1, superseded: false };

/** A project with one memory, and how to open it once more. */
async function project() {
  const writer = await memorySession(onTestFinished, { flags });
  await writer.remember('decisions', 'architect', 'Orders are kept in PostgreSQL');
  const open = async (own: Record<string, string> = flags) => {
    const context = await contextIn(writer.folder, { flags: own });
    onTestFinished(() => context.close());
    return context;
  };
  return { ...writer, open };
}

const everything = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true })).sort();

it('a rehearsed recall makes nothing, and the first real one finds what is there by then', async () => {
  const { folder, open, remember } = await project();
  const before = await everything(folder);
  const context = await open();
  let pauses = 0;
  await context.rehearseRecall(async () => void (pauses += 1));
  expect(pauses).toBeGreaterThan(2);
  expect(before).toEqual(expect.arrayContaining(await everything(folder)));
  await remember('decisions', 'architect', 'Invoices are archived for ten years');
  const memory = await context.memory();
  for (const [query, text] of [
    ['where are orders kept', 'PostgreSQL'],
    ['how long are invoices archived', 'ten years'],
  ] as const)
    expect((await memory.recall({ ...QUESTION, query })).hits[0]?.entry.text, query).toContain(text);
});

it('is left out where there is no store, or the embedder is elsewhere, and given up when somebody asks', async () => {
  const empty = await temporaryFolder(onTestFinished);
  const none = await contextIn(empty, { flags });
  onTestFinished(() => none.close());
  await none.rehearseRecall(() => expect.unreachable());
  expect(await readdir(empty)).toEqual([]);
  const { open } = await project();
  const far = await open({ embedder: 'ollama' });
  await far.rehearseRecall(() => expect.unreachable());
  const asked = await open();
  let pauses = 0;
  await asked.rehearseRecall(async () => {
    if (++pauses === 3) await asked.memory();
  });
  expect(pauses).toBe(3);
});
