import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { memoryStatus } from '../../src/operations/memory/memory-operations.ts';
import { memoryImport } from '../../src/operations/memory/memory-upkeep.ts';
import { recallStructured } from '../../src/operations/memory/recall-structured.ts';
import { rememberStructured } from '../../src/operations/memory/remember.ts';
import { temporaryFolder } from '../support/app.ts';
import { childProgram } from '../support/child-program.ts';
import { embeddingServer, type EmbeddingServer } from '../support/embedding-server.ts';
import { writeFiles } from '../support/kit-project.ts';
import { sessionIn, type OpenSession } from '../support/operations.ts';
import { isDeep } from '../support/how-much.ts';

const CHILD = 'tests/memory/embedding-child.ts';
/** Vectors are made in batches of 64. */
const MEMORIES = 150;
const BATCH = 64;
/** Dimensions: enough for words not to fall together. */
const OLD = 997;
const NEW = 1_009;

const LETTERS = 'bcdfghjklmnpqrtvwxz';
/** A word of its own for each, with nothing that an analyser would take for an ending. */
const wordOf = (index: number): string =>
  `k${LETTERS[index % LETTERS.length]}x${LETTERS[Math.floor(index / LETTERS.length)]}q`;
const dayOf = (index: number): string => new Date(Date.UTC(2026, 0, 1 + index)).toISOString().slice(0, 10);
const textOf = (index: number): string => `Parcels on a shelf come from ${wordOf(index)}`;

interface Vectors {
  done: number;
  total: number;
  running: boolean;
}

async function vectorsOf(session: OpenSession): Promise<Vectors> {
  return (await session.ok(memoryStatus)).data['vectors'] as Vectors;
}

async function reached(session: OpenSession, wanted: Partial<Vectors>): Promise<void> {
  await vi.waitFor(async () => expect(await vectorsOf(session)).toMatchObject(wanted), { timeout: 120_000 });
}

interface Place {
  folder: string;
  server: EmbeddingServer;
  old: OpenSession;
  engine: 'sqlite' | 'memory';
}

/** A project with memories that have vectors of an embedder called "old". */
async function filled(engine: Place['engine']): Promise<Place> {
  const folder = await temporaryFolder(onTestFinished);
  const lines = Array.from({ length: MEMORIES }, (_, index) => `- [${dayOf(index)}] ${textOf(index)}`);
  await writeFiles(folder, { 'package.json': '{}', 'all.md': `## dev\n\n${lines.join('\n')}\n` });
  const server = await embeddingServer(onTestFinished);
  server.dim = OLD;
  const flags = { ollamaUrl: server.url, embeddingModel: 'old', memoryEngine: engine };
  const old = await sessionIn(folder, { flags });
  const file = join(folder, 'all.md');
  expect((await old.ok(memoryImport, { file, type: 'stories' })).data).toMatchObject({ created: MEMORIES });
  expect(await vectorsOf(old)).toEqual({ done: MEMORIES, total: MEMORIES, running: false });
  return { folder, server, old, engine };
}

async function withModel({ folder, server, engine }: Place, model: string): Promise<OpenSession> {
  const flags = { ollamaUrl: server.url, embeddingModel: model, memoryEngine: engine };
  return sessionIn(folder, { flags });
}

async function found(session: OpenSession, query: string): Promise<{ text: string; meaning: boolean }[]> {
  const { data } = await session.ok(recallStructured, { query, limit: 3 });
  const hits = data['hits'] as { snippet: string; meaning?: number }[];
  return hits.map(({ snippet, meaning }) => ({ text: snippet, meaning: meaning !== undefined }));
}

it('an embedder that gives other vectors all of a sudden leaves the words, and nothing is mixed', async () => {
  const folder = await temporaryFolder(onTestFinished);
  const server = await embeddingServer(onTestFinished);
  const session = await sessionIn(folder, { flags: { ollamaUrl: server.url, project: folder } });
  const given = (text: string) => ({ type: 'stories', agent: 'dev', text });
  await session.ok(rememberStructured, given('Parcels come from the harbour'));
  server.dim = 32;
  const { data, answer } = await session.ok(rememberStructured, given('Letters come from the station'));
  expect(data['outcome']).toBe('created');
  expect(answer.note ?? answer.body).toMatch(/Words only.*32 dimensions.*64/);
  const recalled = await session.ok(recallStructured, { query: 'parcels harbour' });
  expect(recalled.answer.body).toContain('Parcels come from the harbour');
  expect(recalled.answer.note).toMatch(/Words only/);
  expect((await session.ok(memoryStatus)).data).toMatchObject({ embedder: 'none', degraded: true });
  session.close();
  const next = await sessionIn(folder, { flags: { ollamaUrl: server.url, project: folder } });
  await reached(next, { done: 2, total: 2, running: false });
  expect((await next.ok(memoryStatus)).data).toMatchObject({ dim: 32, degraded: false });
  next.close();
});

describe.each(['sqlite', 'memory'] as const)('vectors of another embedder, on %s', (engine) => {
  it('are made in the background, with progress, while everything is found', async () => {
    const place = await filled(engine);
    place.server.dim = NEW;
    place.server.admit(1);
    const session = await withModel(place, 'new');
    await reached(session, { done: BATCH, total: MEMORIES, running: true });
    const { data, answer } = await session.ok(memoryStatus);
    expect(data).toMatchObject({ embedder: 'ollama/new', dim: NEW, degraded: false });
    expect(answer.body).toContain(
      `${BATCH} of ${MEMORIES} memories have a vector, the others are being computed`,
    );
    // The newest come first, so the first one has none yet: its words find it.
    expect((await found(session, wordOf(0)))[0]).toEqual({ text: textOf(0), meaning: false });
    expect((await found(session, wordOf(MEMORIES - 1)))[0]).toEqual({
      text: textOf(MEMORIES - 1),
      meaning: true,
    });
    // The host that still has the old embedder compares with its own vectors.
    place.server.dim = OLD;
    expect((await found(place.old, wordOf(0)))[0]).toEqual({ text: textOf(0), meaning: true });
    place.server.dim = NEW;
    place.server.admit(Infinity);
    await reached(session, { done: MEMORIES, total: MEMORIES, running: false });
    expect((await found(session, wordOf(0)))[0]).toEqual({ text: textOf(0), meaning: true });
    place.old.close();
    session.close();
  });

  // What was made in the memory of a process ends with it.
  it.runIf(isDeep && engine === 'sqlite')('are gone on with where a killed process stopped', async () => {
    const place = await filled(engine);
    place.old.close();
    place.server.dim = NEW;
    place.server.admit(1);
    place.server.asked.splice(0);
    const args = [await childProgram(CHILD), place.folder, place.server.url, 'new', engine];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    const ended = new Promise((resolve) => void child.once('close', resolve));
    // It stores the first batch before it asks for the second, which it never gets.
    await vi.waitFor(() => expect(place.server.waiting()).toBe(1), { timeout: 120_000 });
    child.kill('SIGKILL');
    await ended;
    place.server.asked.splice(0);
    place.server.admit(Infinity);
    const session = await withModel(place, 'new');
    await reached(session, { done: MEMORIES, total: MEMORIES, running: false });
    expect(new Set(place.server.asked).has(textOf(0))).toBe(true);
    expect(new Set(place.server.asked).has(textOf(MEMORIES - 1))).toBe(false);
    session.close();
  });
});
