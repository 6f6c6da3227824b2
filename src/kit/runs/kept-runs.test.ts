import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { filesOpened } from '../../../tests/support/opened-files.ts';
import { kitState } from '../../../tests/support/run-project.ts';
import { KeptRuns } from './kept-runs.ts';

afterEach(() => void vi.restoreAllMocks());

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
