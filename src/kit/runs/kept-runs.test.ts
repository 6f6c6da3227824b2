import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { fileLooks } from '../../../tests/support/looked-at.ts';
import { filesOpened } from '../../../tests/support/opened-files.ts';
import { kitState } from '../../../tests/support/run-project.ts';
import { watchFolders } from '../../base/files/watch-folders.ts';
import { localDay } from '../../base/text/text.ts';
import { KeptRuns } from './kept-runs.ts';
import { rounds } from '../../../tests/support/how-much.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

it('a run that had only just been written is read again, however long it took to read it', async () => {
  const folder = await temporaryFolder(onTestFinished);
  const kept = new KeptRuns();
  const read = () =>
    kept.read(folder, { base: folder, path: 'run-1' }, { id: 'run-1', branch: 'main', archive: undefined });
  await writeFiles(folder, { 'run-1/state.json': kitState({ run_id: 'run-1', artefacts_produced: [] }) });
  const reading = read();
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
  expect((await reading)?.id).toBe('run-1');
  expect(await filesOpened(folder, read)).toEqual(['run-1/state.json']);
  expect(await filesOpened(folder, read)).toEqual([]);
});

it('a run whose last checkpoint is a day is from that day, where the user is', async () => {
  vi.stubEnv('TZ', 'America/New_York');
  const folder = await temporaryFolder(onTestFinished);
  await writeFiles(folder, { 'run-1/state.json': kitState({ last_checkpoint: '2026-02-28' }) });
  const name = { id: 'run-1', branch: 'main', archive: undefined };
  const run = await new KeptRuns().read(folder, { base: folder, path: 'run-1' }, name);
  expect(localDay(new Date(run?.latest ?? 0))).toBe('2026-02-28');
});

describe('of more runs than a call reads', () => {
  const idOf = (index: number): string => `prd-20260101-${100_000 + index}`;
  const state = (index: number, status: string): string =>
    kitState({
      run_id: idOf(index),
      status,
      artefacts_produced: [],
      workflow_path: 'x',
      last_checkpoint: `2026-03-02T00:00:00.${String(index % 1_000).padStart(3, '0')}Z`,
    });

  /** Those that are read of so many runs, of which one is not among the latest by its id, but what last happened was about it. */
  async function branchOf(count: number) {
    const folder = await temporaryFolder(onTestFinished);
    const place = { base: folder, path: 'main' };
    const edit = (index: number, status: string, at = index): Promise<void> =>
      writeFiles(folder, { [`main/${idOf(index)}/state.json`]: state(at, status) });
    for (let index = 0; index < count; index += 1) await edit(index, 'completed');
    // The next look is at files that were written a while ago.
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
    const kept = new KeptRuns();
    const read = async () => kept.unended(place, 'main', await kept.folders(place, []), undefined);
    return { folder, kept, edit, read };
  }

  it('one that is set going by hand is read by the next call', async () => {
    const count = rounds(400, 1_500);
    const { edit, read } = await branchOf(count);
    expect(await read()).not.toContain(idOf(count / 2));
    for (const index of [1, count / 2, count - 100]) {
      await edit(index, 'running');
      expect(await read()).toContain(idOf(index));
    }
  });

  it('the one that something last happened to is another one when it goes on', async () => {
    const count = rounds(300, 900);
    const { folder, kept, edit, read } = await branchOf(count);
    const last = idOf(count - 1);
    await edit(3, 'completed', 950);
    expect(await read()).toEqual(expect.arrayContaining([idOf(3), last]));
    await edit(4, 'completed', 940);
    expect(await read()).not.toContain(idOf(4));
    await edit(3, 'running', 950);
    await kept.read(
      folder,
      { base: folder, path: `main/${idOf(3)}` },
      { id: idOf(3), branch: 'main', archive: undefined },
    );
    expect(await read()).toEqual(expect.arrayContaining([idOf(3), idOf(4)]));
  });

  it.runIf(process.platform === 'linux')('a watch answers for all but what happens to them', async () => {
    const { folder, edit } = await branchOf(300);
    vi.restoreAllMocks();
    const place = { base: folder, path: 'main' };
    const at = (index: number): string => join(folder, 'main', idOf(index));
    const watches = watchFolders(() => undefined);
    onTestFinished(() => watches.close());
    await watches.follow([{ path: folder, deep: true }]);
    const kept = new KeptRuns(undefined, { watch: () => watches.watch });
    const readBy = async (by: KeptRuns) => by.unended(place, 'main', await by.folders(place, []), undefined);
    const looks = async () => (await fileLooks(() => readBy(kept))).count;
    const happens: (() => unknown)[] = [
      () => edit(7, 'running'),
      () => edit(7, 'completed', 950),
      () => rmSync(join(at(8), 'state.json')),
      () => renameSync(at(9), at(400)),
      () => edit(9, 'paused'),
      () => (rmSync(at(10), { recursive: true }), renameSync(at(11), at(10))),
      () => edit(10, 'running'),
    ];
    for (const happen of happens) {
      await expect.poll(looks).toBeLessThan(20);
      await happen();
      const now = await readBy(kept);
      expect(now).toEqual(await readBy(new KeptRuns()));
    }
  });
});
