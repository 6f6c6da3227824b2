import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { runsIn } from '../../../tests/support/run-project.ts';
import { writeFiles } from '../../../tests/support/kit-project.ts';
import type { Run } from '../../model/run.ts';
import type { Runs } from '../../services/runs/runs.ts';

interface Scene {
  runs: Runs;
  id: string;
  file(name: string): string;
  look(): Promise<Run>;
}

async function scene(now?: () => Date): Promise<Scene> {
  const folder = await temporaryFolder(onTestFinished);
  await writeFiles(folder, { '_bmad-output/x.md': '' });
  const runs = await runsIn(folder, now);
  const { id, place } = await runs.open({ workflow: 'bmm/prd', workflowPath: 'x', total: 9 });
  return {
    runs,
    id,
    file: (name) => join(place.base, place.path, name),
    look: async () => await runs.one(id),
  };
}

describe('journal and state', () => {
  it('agree after every write', async () => {
    const { runs, id, look } = await scene();
    for (const step of [1, 3, 2]) await runs.checkpoint(id, undefined, { step });
    await runs.finish(id, undefined, 'paused');
    expect(await look()).toMatchObject({ journal: 'level', status: 'paused', problems: [] });
  });

  it('are repaired when the state stayed behind: the journal counts', async () => {
    const { runs, id, file, look } = await scene();
    await runs.checkpoint(id, undefined, { step: 1 });
    const before = await readFile(file('state.json'), 'utf8');
    await runs.checkpoint(id, undefined, { step: 2, variables: { a: 1 } });
    const after = await readFile(file('state.json'), 'utf8');
    await writeFile(file('state.json'), before);
    const found = await look();
    expect(found).toMatchObject({
      journal: 'behind',
      state: { stepsCompleted: [1, 2], variables: { a: 1 } },
    });
    expect(found.problems.join()).toContain('The journal is ahead');
    const { notes } = await runs.repair(id);
    expect(notes).toEqual(['state.json was rebuilt from the journal.']);
    expect(await readFile(file('state.json'), 'utf8')).toBe(after);
    await writeFile(file('state.json'), before);
    const { run, notes: said } = await runs.checkpoint(id, undefined, { step: 3 });
    expect(said).toEqual(['The state was behind its journal and has been repaired.']);
    expect(run).toMatchObject({ journal: 'level', state: { stepsCompleted: [1, 2, 3] } });
  });

  it('take over what somebody else wrote into the state: the file counts', async () => {
    const { runs, id, file, look } = await scene();
    await runs.checkpoint(id, undefined, { step: 1 });
    const state = JSON.parse(await readFile(file('state.json'), 'utf8')) as Record<string, unknown>;
    const theirs = { ...state, steps_completed: [1, 2], current_step: 3, resume_from_step: 3, mine: true };
    await writeFile(file('state.json'), JSON.stringify(theirs));
    expect(await look()).toMatchObject({ journal: 'changed', state: { stepsCompleted: [1, 2] } });
    await runs.checkpoint(id, undefined, { step: 3 });
    expect(await look()).toMatchObject({ journal: 'level', state: { stepsCompleted: [1, 2, 3] } });
    expect(JSON.parse(await readFile(file('state.json'), 'utf8'))).toMatchObject({ mine: true });
    const { entries } = await runs.journal((await look()).place);
    expect(entries.map(({ seq, event }) => `${seq} ${event}`)).toEqual([
      '1 opened',
      '2 checkpoint',
      '3 adopted',
      '4 checkpoint',
    ]);
  });

  it('survive a line that a crash cut off', async () => {
    const { runs, id, file, look } = await scene();
    await runs.checkpoint(id, undefined, { step: 1 });
    await appendFile(file('journal.jsonl'), '{"seq":3,"at":"2026-');
    expect((await look()).problems.join()).toContain('1 line that cannot be read');
    await runs.checkpoint(id, undefined, { step: 2 });
    expect(await look()).toMatchObject({ journal: 'level', state: { stepsCompleted: [1, 2] } });
  });

  it('make the state again when it is gone', async () => {
    const { runs, id, file, look } = await scene();
    await runs.checkpoint(id, undefined, { step: 1 });
    const { rm } = await import('node:fs/promises');
    await rm(file('state.json'));
    expect(await look()).toMatchObject({ journal: 'behind', state: { stepsCompleted: [1] } });
    await runs.repair(id);
    expect((await look()).problems).toEqual([]);
  });

  it('never go back in time, whatever the clock does', async () => {
    const times = [
      '2026-05-01T12:00:00.000Z',
      '2026-05-01T11:00:00.000Z',
      '2026-05-01T11:00:00.000Z',
      '2026-05-01T13:00:00.000Z',
    ];
    let at = 0;
    const { runs, id, look } = await scene(() => new Date(times[Math.min(at++, times.length - 1)] ?? ''));
    const first = await runs.checkpoint(id, undefined, { step: 1 });
    expect(first.notes).toEqual([
      "The clock is behind the last checkpoint; that checkpoint's time was used.",
    ]);
    expect(first.run.state?.lastCheckpoint).toBe('2026-05-01T12:00:00.000Z');
    // A run that is opened in a second that was there before has an id of its own.
    const other = await runs.open({ workflow: 'bmm/prd', workflowPath: 'x' });
    at = 0;
    const again = await runs.open({ workflow: 'bmm/prd', workflowPath: 'x' });
    expect(new Set([id, other.id, again.id]).size).toBe(3);
    const { entries } = await runs.journal((await look()).place);
    expect(entries.map(({ seq }) => seq)).toEqual([1, 2]);
  });
});
