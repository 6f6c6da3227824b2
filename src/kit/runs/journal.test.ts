import { appendFile, cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { runsIn } from '../../../tests/support/run-project.ts';
import { writeFiles } from '../../../tests/support/kit-project.ts';
import { logIn } from '../../../tests/support/tasks.ts';
import type { Happened } from '../../lines/line.ts';
import type { Run } from '../../model/run.ts';
import type { Runs } from '../../services/runs/runs.ts';
import { stateDigest } from './state-file.ts';
import { applied, entriesIn, MOVED, RUNS, type Entry } from './run-fold.ts';

interface Scene {
  folder: string;
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
    folder,
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
    const entries = await runs.journal(await look());
    expect(entries.map(({ seq, event }) => `${seq} ${event}`)).toEqual([
      '1 opened',
      '2 checkpoint',
      '3 adopted',
      '4 checkpoint',
    ]);
  });

  it('take over what a version before has gone on with, which keeps a journal beside the state', async () => {
    const { runs, id, file, look } = await scene();
    await runs.checkpoint(id, undefined, { step: 1 });
    const state = JSON.parse(await readFile(file('state.json'), 'utf8')) as Record<string, unknown>;
    const at = new Date().toISOString();
    const next = { ...state, steps_completed: [1, 2], current_step: 3, resume_from_step: 3 };
    const entries = [
      { seq: 1, at, event: 'adopted', state },
      { seq: 2, at, event: 'checkpoint', step: 2, state: next },
    ];
    await writeFile(file('journal.jsonl'), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    await writeFile(file('state.json'), JSON.stringify(next));
    expect(await look()).toMatchObject({ journal: 'changed', state: { stepsCompleted: [1, 2] } });
    await runs.checkpoint(id, undefined, { step: 3 });
    expect(await look()).toMatchObject({ journal: 'level', state: { stepsCompleted: [1, 2, 3] } });
    expect((await runs.journal(await look())).map(({ event }) => event)).toEqual([
      'opened',
      'checkpoint',
      'adopted',
      'checkpoint',
    ]);
  });

  it('have no file of their own: the lines have all that happened, and say who did it', async () => {
    const { runs, id, file, look } = await scene();
    await runs.checkpoint(id, undefined, { step: 1 });
    expect(await readdir(dirname(file('state.json')))).toEqual(['state.json']);
    const entries = await runs.journal(await look());
    expect(entries).toMatchObject([
      { seq: 1, event: 'opened' },
      { seq: 2, event: 'checkpoint', step: 1 },
    ]);
  });

  it('with conflict markers in the state count as the lines have it, and the next write makes it again', async () => {
    const { runs, id, file, look } = await scene();
    await runs.checkpoint(id, undefined, { step: 1 });
    const text = await readFile(file('state.json'), 'utf8');
    const conflict = `<<<<<<< HEAD\n${text}=======\n${text.replace('running', 'paused')}>>>>>>> theirs\n`;
    await writeFile(file('state.json'), conflict);
    const found = await look();
    expect(found).toMatchObject({ journal: 'behind', status: 'running', state: { stepsCompleted: [1] } });
    expect(found.problems.join()).toContain('conflict markers');
    await runs.checkpoint(id, undefined, { step: 2 });
    expect(await look()).toMatchObject({ journal: 'level', problems: [], state: { stepsCompleted: [1, 2] } });
  });

  it('without a line count as the file has it: a clone whose lines are private', async () => {
    const { folder, runs, id, file } = await scene();
    await runs.checkpoint(id, undefined, { step: 1 });
    const clone = await temporaryFolder(onTestFinished);
    await cp(join(folder, '_bmad-output/.runs'), join(clone, '_bmad-output/.runs'), { recursive: true });
    const there = await runsIn(clone);
    expect(await there.one(id)).toMatchObject({
      journal: 'none',
      state: { stepsCompleted: [1] },
      problems: [],
    });
    await there.checkpoint(id, undefined, { step: 2 });
    const entries = await there.journal(await there.one(id));
    expect(entries.map(({ event }) => event)).toEqual(['adopted', 'checkpoint']);
    // And the state that the clone has written is adopted here.
    const { place } = await there.one(id);
    await cp(join(clone, place.path, 'state.json'), file('state.json'));
    expect(await runs.one(id)).toMatchObject({ journal: 'changed', state: { stepsCompleted: [1, 2] } });
    await runs.checkpoint(id, undefined, { step: 3 });
    expect(JSON.parse(await readFile(file('state.json'), 'utf8'))).toMatchObject({
      steps_completed: [1, 2, 3],
    });
  });

  it('are there again when their folder is gone, until they are over', async () => {
    const { runs, id, file, look } = await scene();
    await runs.checkpoint(id, undefined, { step: 1 });
    await rm(dirname(file('state.json')), { recursive: true });
    expect((await runs.lately()).branches.flatMap((branch) => branch.runs)).toMatchObject([
      { id, status: 'running', state: { stepsCompleted: [1] } },
    ]);
    await runs.checkpoint(id, undefined, { step: 2 });
    expect(await look()).toMatchObject({ journal: 'level', state: { stepsCompleted: [1, 2] } });
    await runs.finish(id, undefined, 'completed');
    await rm(dirname(file('state.json')), { recursive: true });
    expect((await runs.lately()).branches.flatMap((branch) => branch.runs)).toEqual([]);
    expect(await look()).toMatchObject({ status: 'completed' });
  });

  it('make the state again when it is gone', async () => {
    const { runs, id, file, look } = await scene();
    await runs.checkpoint(id, undefined, { step: 1 });
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
    const entries = await runs.journal(await look());
    expect(entries.map(({ seq }) => seq)).toEqual([1, 2]);
  });
});

const ID = 'prd-20260227-143022-a1b2c3';
const at = (step: number): string => new Date(Date.UTC(2026, 1, 27, 14, step)).toISOString();
const FIRST: Record<string, unknown> = {
  run_id: ID,
  workflow: 'bmm/prd',
  session_branch: 'main',
  started_at: at(0),
  last_checkpoint: at(0),
  status: 'running',
  steps_completed: [],
  current_step: 1,
  total_steps: 9,
  session_variables: {},
  artefacts_produced: [],
};

/** What a version before wrote for a run with so many steps. */
function journalOf(steps: number): { entries: (Entry & { seq: number })[]; states: object[] } {
  const entries = [
    { seq: 1, at: at(0), event: 'opened' as const, state: FIRST, after: stateDigest(FIRST) },
  ] as (Entry & {
    seq: number;
  })[];
  const states: Record<string, unknown>[] = [FIRST];
  for (let step = 1; step <= steps; step += 1) {
    const entry = { seq: step + 1, at: at(step), event: 'checkpoint' as const, step };
    const state = applied(states.at(-1) ?? {}, entry);
    states.push(state);
    entries.push({ ...entry, after: stateDigest(state) });
  }
  return { entries, states };
}

const asLines = (entries: readonly object[]): string =>
  entries.map((each) => `${JSON.stringify(each)}\n`).join('');

describe('a journal of a version before', () => {
  const STEPS = 5;
  const { entries, states } = journalOf(STEPS);
  const JOURNAL = asLines(entries);
  const RUN = `_bmad-output/.runs/main/${ID}`;

  async function old(state: object = states[STEPS] ?? {}, journal = JOURNAL) {
    const folder = await temporaryFolder(onTestFinished);
    await writeFiles(folder, {
      '_bmad/_memory/config.yaml': 'output_folder: "{project-root}/_bmad-output"\n',
      [`${RUN}/state.json`]: JSON.stringify(state, null, 2),
      [`${RUN}/journal.jsonl`]: journal,
    });
    const file = (name: string): string => join(folder, RUN, name);
    return { folder, file, runs: await runsIn(folder) };
  }

  const told = async (runs: Runs) =>
    (await runs.journal(await runs.one(ID))).map(({ event, step = 0 }) => `${event} ${step}`);
  const ALL = ['opened 0', 'checkpoint 1', 'checkpoint 2', 'checkpoint 3', 'checkpoint 4', 'checkpoint 5'];

  it('is read as it is, and written as lines with the first change; then it is not read any more', async () => {
    const { folder, file, runs } = await old();
    expect(await runs.one(ID)).toMatchObject({
      journal: 'level',
      problems: [],
      state: { stepsCompleted: [1, 2, 3, 4, 5] },
    });
    expect(await told(runs)).toEqual(ALL);
    expect(await readdir(join(folder, '_bmad/_memory'))).toEqual(['config.yaml']);
    await runs.checkpoint(ID, undefined, { step: 6 });
    expect(await readFile(file('journal.jsonl'), 'utf8')).toBe(JOURNAL);
    await writeFile(file('journal.jsonl'), 'no longer a journal');
    const fresh = await runsIn(folder);
    expect(await told(fresh)).toEqual([...ALL, 'checkpoint 6']);
    expect(await fresh.one(ID)).toMatchObject({ journal: 'level', problems: [] });
  });

  it('that is ahead of the state counts, and a line that a crash cut off is told', async () => {
    const { runs, file } = await old(states[3]);
    await appendFile(file('journal.jsonl'), '{"seq":7,"at":"2026-');
    const run = await runs.one(ID);
    expect(run).toMatchObject({ journal: 'behind', state: { stepsCompleted: [1, 2, 3, 4, 5] } });
    expect(run.problems.join()).toContain('1 line that cannot be read');
    expect((await runs.repair(ID)).notes).toEqual(['state.json was rebuilt from the journal.']);
    const { run: after } = await runs.checkpoint(ID, undefined, { step: 6 });
    expect(after).toMatchObject({
      journal: 'level',
      problems: [],
      state: { stepsCompleted: [1, 2, 3, 4, 5, 6] },
    });
  });

  it.each([1, 3, 5])(
    'of which a move that was cut short has written %s entries is moved to the end',
    async (count) => {
      const { folder, runs } = await old();
      const data = { entries: entries.slice(0, count), of: entries.length };
      await (await logIn(folder)).append([{ of: `run/main/${ID}`, after: [], do: MOVED, data }]);
      expect(await runs.one(ID)).toMatchObject({
        journal: 'level',
        state: { stepsCompleted: [1, 2, 3, 4, 5] },
      });
      expect(await told(runs)).toEqual(ALL);
      await runs.checkpoint(ID, undefined, { step: 6 });
      expect(await told(await runsIn(folder))).toEqual([...ALL, 'checkpoint 6']);
    },
  );

  it('of more than one line holds is moved in parts', async () => {
    const notes = 'n'.repeat(60_000);
    const long = entries.map((entry, index) =>
      index === 0 ? entry : { ...entry, notes: `${index} ${notes}` },
    );
    let state: Record<string, unknown> = {};
    const whole = long.map((entry) => {
      state = applied(state, entry);
      return { ...entry, after: stateDigest(state) };
    });
    const { folder, runs } = await old(state, asLines(whole));
    await runs.checkpoint(ID, undefined, { step: 6 });
    expect(await told(await runsIn(folder))).toEqual([...ALL, 'checkpoint 6']);
    expect((await runs.one(ID)).journal).toBe('level');
  });

  it('goes on beside us: what an older server writes is adopted, and the step that it knows of us stays', async () => {
    const { runs, file } = await old();
    await runs.checkpoint(ID, undefined, { step: 6 });
    // The older server finds a state that its journal does not know, and adopts it.
    const ours = JSON.parse(await readFile(file('state.json'), 'utf8')) as Record<string, unknown>;
    const adopted = { seq: 7, at: at(7), event: 'adopted' as const, state: ours, after: stateDigest(ours) };
    const step = { seq: 8, at: at(8), event: 'checkpoint' as const, step: 7 };
    const theirs = applied(ours, step);
    await appendFile(file('journal.jsonl'), asLines([adopted, { ...step, after: stateDigest(theirs) }]));
    await writeFile(file('state.json'), JSON.stringify(theirs, null, 2));
    expect(await runs.one(ID)).toMatchObject({
      journal: 'changed',
      state: { stepsCompleted: [1, 2, 3, 4, 5, 6, 7] },
    });
    const { run } = await runs.checkpoint(ID, undefined, { step: 8 });
    expect(run).toMatchObject({
      journal: 'level',
      problems: [],
      state: { stepsCompleted: [1, 2, 3, 4, 5, 6, 7, 8] },
    });
    expect((await told(runs)).slice(-3)).toEqual(['checkpoint 6', 'adopted 0', 'checkpoint 8']);
  });
});

describe('lines about a run', () => {
  const event = (id: string, after: string[], entry: Omit<Entry, 'after'>): Happened => ({
    of: `run/main/${ID}`,
    id,
    after,
    at: entry.at,
    do: entry.event,
    data: { ...entry, after: `digest ${id}` },
    by: { kind: 'local', name: id },
    machine: 'm',
    newer: false,
  });
  const opened = event('a', [], { at: at(0), event: 'opened', state: FIRST });
  const steps = (events: readonly Happened[]) => RUNS.fold(`main/${ID}`, events)?.state?.['steps_completed'];

  it('apply all of both machines, in whatever order they came', () => {
    const events = [
      opened,
      event('b', ['a'], { at: at(1), event: 'checkpoint', step: 1, variables: { one: 1 } }),
      event('c', ['a'], { at: at(2), event: 'checkpoint', step: 2, also: [1], variables: { two: 2 } }),
      event('d', ['b'], { at: at(3), event: 'checkpoint', step: 3 }),
      event('e', ['c', 'd'], { at: at(4), event: 'finished', status: 'paused' }),
    ];
    const whole = RUNS.fold(`main/${ID}`, events);
    expect(whole?.state).toMatchObject({
      status: 'paused',
      steps_completed: [1, 2, 3],
      session_variables: { one: 1, two: 2 },
      last_checkpoint: at(4),
    });
    for (let turn = 0; turn < events.length; turn += 1) {
      const mixed = [...events.slice(turn), ...events.slice(0, turn)].toReversed();
      expect(RUNS.fold(`main/${ID}`, mixed)).toEqual(whole);
      expect(entriesIn(mixed).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    }
  });

  it('apply what one machine did to a state that another one adopted without knowing of it', () => {
    const adopted = { ...FIRST, steps_completed: [4], mine: true };
    const events = [
      opened,
      event('b', ['a'], { at: at(1), event: 'checkpoint', step: 1 }),
      event('c', ['a'], { at: at(2), event: 'adopted', state: adopted }),
      event('d', ['a'], { at: at(3), event: 'adopted', state: { ...FIRST, steps_completed: [5] } }),
    ];
    expect(steps(events)).toEqual([1, 4, 5]);
    // One that knew of it stands for all.
    expect(
      steps([...events, event('e', ['b', 'c', 'd'], { at: at(5), event: 'adopted', state: FIRST })]),
    ).toEqual([]);
  });

  it('of a run that goes on elsewhere make none, unless it comes back', () => {
    const left = { ...event('b', ['a'], { at: at(1), event: 'finished' }), do: 'left' };
    expect(RUNS.fold(`main/${ID}`, [opened, left])).toBeUndefined();
    const late = event('c', ['a'], { at: at(2), event: 'checkpoint', step: 1 });
    expect(RUNS.fold(`main/${ID}`, [opened, left, late])).toBeUndefined();
    const back = event('d', ['b', 'c'], { at: at(3), event: 'adopted', state: FIRST });
    expect(RUNS.fold(`main/${ID}`, [opened, left, late, back])?.state).toEqual(FIRST);
  });
});
