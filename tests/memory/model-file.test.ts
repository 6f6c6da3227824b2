import { mkdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memoryStatus } from '../../src/operations/memory/memory-operations.ts';
import { recallStructured } from '../../src/operations/memory/recall-structured.ts';
import { rememberStructured } from '../../src/operations/memory/remember.ts';
import { contentRoot, repository, temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/kit-project.ts';
import { sessionIn, type OpenSession } from '../support/operations.ts';
import { some } from '../support/how-much.ts';

const model = await readFile(join(repository, 'assets', 'embedder.bin'));
const MODEL = 'embedder.bin';

/** An install of its own, whose model can be spoilt, and a project. */
async function install(): Promise<{ dist: string; folder: string; open: () => Promise<OpenSession> }> {
  const [dist, folder] = [await temporaryFolder(onTestFinished), await temporaryFolder(onTestFinished)];
  await symlink(contentRoot, join(dist, 'content'));
  await writeFile(join(dist, MODEL), model);
  await writeFiles(folder, { 'package.json': '{}' });
  return { dist, folder, open: () => sessionIn(folder, { contentRoot: join(dist, 'content') }) };
}

/** The head of the model with another value in it, everything else as it was. */
function withHead(change: (head: Record<string, unknown>) => void): Buffer {
  const end = 12 + model.readUInt32LE(8);
  const head = JSON.parse(model.toString('utf8', 12, end)) as Record<string, unknown>;
  change(head);
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return Buffer.concat([model.subarray(0, 8), length, text, model.subarray(end)]);
}

const DAMAGE: Readonly<Record<string, (file: string) => Promise<void>>> = {
  'is missing': (file) => rm(file),
  'is cut off': (file) => truncate(file, 1_000_000),
  'is empty': (file) => truncate(file, 0),
  'is another kind of file': (file) =>
    writeFile(file, Buffer.concat([Buffer.from('GGUF'), model.subarray(4)])),
  'has other dimensions than it says': (file) =>
    writeFile(
      file,
      withHead((head) => (head['dim'] = 128)),
    ),
  'says nonsense about itself': (file) =>
    writeFile(
      file,
      withHead((head) => (head['dim'] = '256')),
    ),
  'is a folder': async (file) => {
    await rm(file);
    await mkdir(file);
  },
};

const given = (text: string) => ({ type: 'decisions', agent: 'dev', text });

async function vectorsOf(session: OpenSession): Promise<unknown> {
  return (await session.ok(memoryStatus)).data['vectors'];
}

describe.each(some(2, Object.entries(DAMAGE)))('a model file that %s', (_, damage) => {
  it('leaves the words, is told, and spoils no vector', async () => {
    const { dist, open } = await install();
    const whole = await open();
    await whole.ok(rememberStructured, given('Invoices are archived every night'));
    expect(await vectorsOf(whole)).toMatchObject({ done: 1, total: 1 });
    whole.close();

    await damage(join(dist, MODEL));
    const session = await open();
    const { data } = await session.ok(memoryStatus);
    expect(data).toMatchObject({ embedder: 'none', degraded: true, memories: 1 });
    expect(String(data['notes'])).toMatch(/Words only.*model.*Reinstall the server/);
    const remembered = await session.ok(rememberStructured, given('Backups are checked every Monday'));
    expect(remembered.answer.note ?? remembered.answer.body).toMatch(/Words only/);
    const recalled = await session.ok(recallStructured, { query: 'invoices archived' });
    expect(recalled.answer.body).toContain('Invoices are archived every night');
    expect(recalled.answer.note).toMatch(/Words only.*Reinstall the server/);
    session.close();

    await rm(join(dist, MODEL), { recursive: true, force: true });
    await writeFile(join(dist, MODEL), model);
    const mended = await open();
    // The one that was remembered without a vector gets its own now.
    await expect.poll(() => vectorsOf(mended)).toMatchObject({ done: 2, total: 2 });
    const [hit] = (await mended.ok(recallStructured, { query: 'backups monday' })).data['hits'] as {
      meaning?: number;
    }[];
    expect(hit?.meaning).toBeGreaterThan(0.5);
    expect((await mended.ok(memoryStatus)).data).toMatchObject({ degraded: false, notes: [] });
    mended.close();
  });
});

it('compares nothing with the vectors of a model of other dimensions, even under the same name', async () => {
  const { dist, open } = await install();
  const first = await open();
  await first.ok(rememberStructured, given('Invoices are archived every night'));
  first.close();
  await writeFile(join(dist, MODEL), smallModel());
  const second = await open();
  expect((await second.ok(memoryStatus)).data).toMatchObject({ dim: 4 });
  await expect.poll(() => vectorsOf(second)).toMatchObject({ done: 1, total: 1 });
  await second.ok(rememberStructured, given('Backups are checked every Monday'));
  expect(await second.ok(recallStructured, { query: 'invoices archived' })).toMatchObject({ failed: false });
  second.close();
  await writeFile(join(dist, MODEL), model);
  const third = await open();
  const [hit] = (await third.ok(recallStructured, { query: 'Invoices are archived every night' })).data[
    'hits'
  ] as { meaning?: number }[];
  // Its own vector of the first time, as it was.
  expect(hit?.meaning).toBeGreaterThan(0.95);
  third.close();
});

/** A whole model with two words and one bucket. */
function smallModel(): Buffer {
  const end = 12 + model.readUInt32LE(8);
  const { id } = JSON.parse(model.toString('utf8', 12, end)) as { id: string };
  const words = Buffer.from('invoices\narchived');
  const head = Buffer.from(JSON.stringify({ id, dim: 4, buckets: 1, words: 2, wordBytes: words.length }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  const steps = Buffer.from(new Float32Array([1, 1, 1]).buffer);
  // Two numbers a byte, each eight more than it is: 7 0 0 1, 0 7 0 1 and 0 0 7 1.
  const rows = Buffer.from([0x8f, 0x98, 0xf8, 0x98, 0x88, 0x9f]);
  return Buffer.concat([Buffer.from('BMADEMB2'), length, head, words, steps, rows]);
}
