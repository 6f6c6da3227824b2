import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import { BmadError } from '../../base/errors.ts';
import { type Again, type Keyed, openAgain, requestFiles } from './again.ts';

const HOUR_MS = 60 * 60_000;
const KEYED: Keyed = { key: 'k-1', caller: 'token ada', input: { a: 1, b: [2] } };

async function opened() {
  const state = await temporaryFolder(onTestFinished);
  const at = { now: Date.now() };
  let count = 0;
  return {
    at,
    folder: join(state, 'again'),
    again: openAgain(
      requestFiles(state, () => at.now),
      () => at.now,
    ),
    /** As another process, or this one after a restart. */
    other: (): Again =>
      openAgain(
        requestFiles(state, () => at.now),
        () => at.now,
      ),
    work: async () => {
      count += 1;
      return { count };
    },
  };
}

describe('a call that may be made again', () => {
  it('is made once, whichever server is asked, and in whatever order its arguments come', async () => {
    const { again, other, work } = await opened();
    expect(await again.run(KEYED, work)).toEqual([{ count: 1 }, false]);
    expect(await other().run({ ...KEYED, input: { b: [2], a: 1 } }, work)).toEqual([{ count: 1 }, true]);
    expect(await again.run({ ...KEYED, caller: 'token bob' }, work)).toEqual([{ count: 2 }, false]);
    const { code, reason } = await refusal(() => again.run({ ...KEYED, input: {} }, work));
    expect([code, reason]).toEqual(['conflict', 'reused']);
  });

  it('is kept for a day, also where the clock is set back', async () => {
    const { again, at, folder, work } = await opened();
    await again.run(KEYED, work);
    at.now -= 1_000 * HOUR_MS;
    expect(await again.run(KEYED, work)).toEqual([{ count: 1 }, true]);
    at.now += 1_025 * HOUR_MS;
    expect(await again.run(KEYED, work)).toEqual([{ count: 2 }, false]);
    expect(await readdir(folder)).toHaveLength(1);
  });

  it('is refused while it is under way', async () => {
    const { again, other, work } = await opened();
    let go: (() => void) | undefined;
    let begun: (() => void) | undefined;
    const isBegun = new Promise<void>((resolve) => (begun = resolve));
    const first = again.run(KEYED, async () => {
      begun?.();
      await new Promise<void>((resolve) => (go = resolve));
      return work();
    });
    await isBegun;
    for (const one of [again, other()]) {
      const error = await refusal(() => one.run(KEYED, work));
      expect([error.code, error.message]).toEqual([
        'conflict',
        'A call with this idempotency key is under way.',
      ]);
    }
    go?.();
    expect(await first).toEqual([{ count: 1 }, false]);
  });

  it('gets its error again, unless that was worth another try', async () => {
    const { again, work } = await opened();
    const fails = (code: 'not_found' | 'unavailable') => () => {
      throw new BmadError(code, 'Nothing here.', { hint: 'Look there.' });
    };
    await refusal(() => again.run(KEYED, fails('not_found')));
    const error = await refusal(() => again.run(KEYED, work));
    expect([error.code, error.message, error.hint]).toEqual(['not_found', 'Nothing here.', 'Look there.']);
    const other = { ...KEYED, key: 'k-2' };
    await refusal(() => again.run(other, fails('unavailable')));
    expect(await again.run(other, work)).toEqual([{ count: 1 }, false]);
  });

  it('says that it was cut, where nobody knows what became of it', async () => {
    const { again, folder, other, work } = await opened();
    await again.run(KEYED, work);
    const [name = ''] = await readdir(folder);
    const { answer: _answer, ...begun } = JSON.parse(await readFile(join(folder, name), 'utf8')) as {
      answer: unknown;
    };
    for (const text of [JSON.stringify(begun), 'not json', '']) {
      await writeFile(join(folder, name), text);
      expect((await refusal(() => other().run(KEYED, work))).message).toMatch(/began at .* was cut/);
    }
  });

  it.each(['', 'with space', 'é', 'x'.repeat(256), '\n'])('refuses a key such as %j', async (key) => {
    const { again, work } = await opened();
    expect((await refusal(() => again.run({ ...KEYED, key }, work))).code).toBe('invalid_input');
  });

  it('is not made where nothing can be kept of it', async () => {
    const { again, folder, work } = await opened();
    await mkdir(join(folder, '..'), { recursive: true });
    await writeFile(folder, 'in the way');
    await refusal(() => again.run(KEYED, work));
    expect(await work()).toEqual({ count: 1 });
  });
});
