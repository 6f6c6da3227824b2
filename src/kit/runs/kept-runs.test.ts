import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { filesOpened } from '../../../tests/support/opened-files.ts';
import { kitState } from '../../../tests/support/run-project.ts';
import { localDay } from '../../base/text/text.ts';
import { KeptRuns } from './kept-runs.ts';

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
