import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { JsonlStore } from '../../src/services/memory/jsonl/store.ts';
import { storeContract } from './contract.ts';
import { memory, storeOptions } from './places.ts';

async function folder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'bmad-jsonl-'));
}

storeContract('jsonl', async () => {
  const place = await folder();
  return {
    open: async (options) =>
      new JsonlStore({ ...storeOptions(options), file: join(place, 'm', 'memories.jsonl') }),
    remove: async () => rm(place, { recursive: true, force: true }),
  };
});

describe('a log of memories', () => {
  const open = (file: string) => new JsonlStore({ ...storeOptions(), file });

  it('survives a line that was cut off, and says so', async () => {
    const file = join(await folder(), 'memories.jsonl');
    await open(file).upsert([memory('a', 'Written before the crash.')]);
    await appendFile(file, '{"put":{"entry":{"id":"x');
    const store = open(file);
    expect(await store.count({})).toBe(1);
    await store.upsert([memory('b', 'Written after the crash.')]);
    const again = open(file);
    expect(await again.count({})).toBe(2);
    expect(await again.health()).toMatchObject({ degraded: true });
  });

  it('leaves a file that is not a log as it is', async () => {
    const file = join(await folder(), 'memories.jsonl');
    await writeFile(file, 'something else\n');
    const store = open(file);
    await expect(store.upsert([memory('a', 'x')])).rejects.toMatchObject({ code: 'unavailable' });
    await expect(store.count({})).rejects.toThrow(/left unchanged/);
    expect(await readFile(file, 'utf8')).toBe('something else\n');
  });

  it('does not touch the log of a newer version', async () => {
    const file = join(await folder(), 'memories.jsonl');
    await writeFile(file, '{"log":"bmad-memory","version":99}\n');
    await expect(open(file).count({})).rejects.toThrow(/newer version/);
  });

  it('is written anew when most of it no longer counts, under the eyes of other readers', async () => {
    const file = join(await folder(), 'memories.jsonl');
    const [one, two] = [open(file), open(file)];
    for (let round = 0; round < 25; round++) {
      const batch = Array.from({ length: 100 }, (_, index) =>
        memory(`m${index}`, `Round ${round} of memory ${index}.`, { vector: undefined }),
      );
      await one.upsert(batch);
      if (round % 5 === 0) expect(await two.count({})).toBe(100);
    }
    expect(Number((await open(file).health()).details['lines'])).toBeLessThan(1_000);
    expect((await two.get(memory('m7', '')))?.text).toBe('Round 24 of memory 7.');
    expect(await two.revisions(memory('m7', ''))).toHaveLength(24);
  });
});
