import { t } from '../../base/text/message.ts';
import { join } from 'node:path';
import { basename } from 'node:path/posix';
import { present } from '../../base/values.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { moveFolder } from '../../base/files/file-tree.ts';
import { isTable } from '../../base/parse/parse.ts';
import { artefactFile } from '../../kit/runs/read-run.ts';
import { checkpointId, readJson, STATE_FILE } from '../../kit/runs/state-file.ts';
import { RUNS, runName, standingOf } from '../../kit/runs/run-fold.ts';
import type { Saying, View } from '../../lines/view.ts';
import type { Run, RunPlace } from '../../model/run.ts';
import { OPEN_RUN, folderOf, linesNow, lockedRuns, oneRun, type RunsStorage } from './storage.ts';
import {
  beforeChange,
  entryAfter,
  moving,
  newerRun,
  saying,
  toldOf,
  writeState,
  type Before,
  type Change,
  type RunAt,
} from './write-run.ts';

interface Checkpoint {
  /** The step that has been done. */
  step?: number | undefined;
  /** Its name, where it was told by one. */
  told?: string | undefined;
  /** Another part follows, so the step is not done yet. */
  goesOn?: boolean | undefined;
  agent?: string | undefined;
  current?: number | undefined;
  total?: number | undefined;
  variables?: Readonly<Record<string, unknown>> | undefined;
  /** Files that came out of it, from the run's own folder or from the top of the project. */
  artefacts?: readonly string[] | undefined;
  notes?: string | undefined;
  /** It is noted only: a run that rests or has failed stays so. */
  isNote?: boolean | undefined;
}

interface ChangedRun {
  run: Run;
  /** What the caller should know about the write. */
  notes: string[];
  /** Nothing was written: it was so already. */
  already?: true;
}

export async function checkpoint(
  storage: RunsStorage,
  id: string,
  branch: string | undefined,
  given: Checkpoint,
): Promise<ChangedRun> {
  return changeRun(storage, id, branch, async (place, before, notes) => {
    const status = before.state['status'];
    if (status === 'completed')
      throw new BmadError('conflict', t`The run ${quoted(id)} is completed.`, {
        subject: id,
        steps: [OPEN_RUN],
      });
    const rests = status === 'paused' || status === 'failed';
    if (rests && given.isNote !== true) notes.push(t`It was ${status} and is running again.`);
    const total = given.total ?? before.state['total_steps'];
    const step =
      given.step ?? (typeof before.state['current_step'] === 'number' ? before.state['current_step'] : 0);
    if (given.step !== undefined && typeof total === 'number' && given.step > total)
      throw new BmadError('invalid_input', t`Step ${given.step} of ${total} is not possible.`, {
        subject: 'step',
        hint: t`Pass the right step, or a new total_steps.`,
      });
    const also = given.step === undefined ? [] : passedBy(before.state['steps_completed'], given.step);
    if (also.length > 0)
      notes.push(
        also.length === 1
          ? t`Step ${also[0]} was recorded too, without a checkpoint.`
          : t`Steps ${also[0]} to ${also.at(-1)} were recorded too, without checkpoints.`,
      );
    const artefacts = await recordedArtefacts(storage, place, given.artefacts ?? [], given.step);
    const known = before.state['session_variables'];
    const variables = { ...(isTable(known) ? known : {}), ...given.variables };
    return present<Change>({
      event: 'checkpoint',
      step: given.goesOn === true ? undefined : given.step,
      told: given.told,
      agent: given.agent,
      also: also.length === 0 ? undefined : also,
      current: given.current,
      total: given.total,
      variables: given.variables === undefined ? undefined : { ...given.variables },
      artefacts: artefacts.length === 0 ? undefined : artefacts,
      notes: given.notes,
      status: rests && given.isNote === true ? status : undefined,
      checkpoint_id: checkpointId(id, step, variables),
    });
  });
}

/** A run is not kept by steps any more where more than so many are passed over at once. */
const MOST_PASSED = 50;

/** Steps are done in their order: one that is done ends those before it that nobody recorded. */
function passedBy(completed: unknown, step: number): number[] {
  const done = Array.isArray(completed) ? completed.map(Number) : [];
  const first = done.reduce((most, each) => Math.max(most, each), 0) + 1;
  const count = step - first;
  return count < 1 || count > MOST_PASSED ? [] : Array.from({ length: count }, (_, index) => first + index);
}

export async function finishRun(
  storage: RunsStorage,
  id: string,
  branch: string | undefined,
  given: 'completed' | 'failed' | 'paused' | 'abandoned',
  text?: string,
): Promise<ChangedRun> {
  return changeRun(storage, id, branch, async (_place, before, notes) => {
    const was = before.state['status'];
    const isAbandoned = given === 'abandoned';
    // A word that the kit's own tools know.
    const status = isAbandoned ? 'failed' : given;
    if (
      was === status &&
      (before.state['abandoned'] === true) === isAbandoned &&
      !before.behind &&
      [undefined, before.state['agent_notes']].includes(text)
    )
      return undefined;
    if (was !== status && (was === 'completed' || was === 'failed')) notes.push(t`It was ${was} before.`);
    const done = before.state['steps_completed'];
    const total = before.state['total_steps'];
    const count = Array.isArray(done) ? new Set(done).size : 0;
    if (status === 'completed' && typeof total === 'number' && count < total)
      notes.push(
        total === 1
          ? t`Its 1 step has no checkpoint.`
          : t`Only ${count} of ${total} steps have a checkpoint.`,
      );
    return present<Change>({
      event: 'finished',
      status,
      abandoned: isAbandoned ? true : undefined,
      notes: text,
    });
  });
}

/** Makes the state file again from the lines. One that was broken is kept beside it. */
export async function repairRun(storage: RunsStorage, id: string, branch?: string): Promise<ChangedRun> {
  const { run, locked } = await writable(storage, id, branch);
  const notes = await locked(async () => {
    const { base, path } = run.place;
    const { fold } = await toldOf(run, await linesNow(storage));
    const { broken, table } = await readJson(base, `${path}/${STATE_FILE}`);
    if (broken === undefined && standingOf(fold, table).standing !== 'behind')
      return [table === undefined ? t`There is no state to repair.` : t`There is nothing to repair.`];
    if (fold?.state === undefined)
      throw new BmadError('unavailable', t`The run ${quoted(id)} has no journal to rebuild its state from.`, {
        subject: id,
        hint: t`Repair ${path}/${STATE_FILE} by hand, or open a new run.`,
      });
    const said = [t`${STATE_FILE} was rebuilt from the journal.`];
    if (broken !== undefined) {
      const aside = `${STATE_FILE}.broken-${storage.now().toISOString().replace(/[:.]/g, '-')}`;
      await moveFolder(join(base, path, STATE_FILE), join(base, path, aside));
      said.push(t`The broken file is kept as ${aside}.`);
    }
    await writeState(run.place, fold.state);
    return said;
  });
  return { run: await again(storage, run), notes };
}

/** How often a run may be changed by something else while it is changed. */
const ROUNDS = 100;

/**
 * Says what is to be changed, if nobody else has said something about the run meanwhile. What the lines lack of it is said
 * before: a journal of a version before, and a state that something else has written.
 */
async function changeRun(
  storage: RunsStorage,
  id: string,
  branch: string | undefined,
  make: (place: RunPlace, before: Before, notes: string[]) => Promise<Change | undefined>,
): Promise<ChangedRun> {
  const view = await storage.view();
  for (let round = 0; round < ROUNDS; round += 1) {
    const { run, locked } = await writable(storage, id, branch);
    const done = await view.change(undefined, () => planned(storage, view, run, make));
    if (done === undefined) continue;
    const { notes, already } = done;
    if (already) return { run: await again(storage, run), notes, already };
    await locked(() => writeFolded(storage, run));
    return { run: await again(storage, run), notes };
  }
  throw new BmadError('unavailable', t`Something else keeps changing the run ${quoted(id)}.`, {
    subject: id,
    hint: t`Try again in a moment.`,
  });
}

/** What is said next about a run, and what it comes to; no answer where more has to be said after it. */
async function planned(
  storage: RunsStorage,
  view: View,
  run: Run,
  make: (place: RunPlace, before: Before, notes: string[]) => Promise<Change | undefined>,
): Promise<{ said: Saying[]; answer: { notes: string[]; already: boolean } | undefined }> {
  const lines = view.of(RUNS);
  if (lines.isNewer(runName(run))) throw newerRun(run);
  const told = await toldOf(run, lines);
  const { said } = moving(run, told.entries, lines);
  if (said.length > 0) return { said, answer: undefined };
  const before = await beforeChange(run, told);
  if (!before.level) {
    const { entry } = entryAfter(before, { event: 'adopted', state: before.state }, storage.now());
    return { said: [saying(run, entry)], answer: undefined };
  }
  const notes: string[] = [];
  if (before.behind) notes.push(t`The state was behind its journal and has been repaired.`);
  const change = await make(run.place, before, notes);
  if (change === undefined) return { said: [], answer: { notes, already: true } };
  const { entry, clockBack } = entryAfter(before, change, storage.now());
  if (clockBack) notes.push(t`The clock is behind the last checkpoint; that checkpoint's time was used.`);
  return { said: [saying(run, entry)], answer: { notes, already: false } };
}

/** Writes the state file as the lines are now, those of other processes too. */
export async function writeFolded(storage: RunsStorage, run: RunAt): Promise<void> {
  const state = (await linesNow(storage)).get(runName(run))?.state;
  if (state !== undefined) await writeState(run.place, state);
}

/** The run as it is after a change. */
async function again(storage: RunsStorage, run: Run): Promise<Run> {
  return (await oneRun(storage, run.id, run.branch)).run;
}

/** A run that may be changed, and the lock under which its files are. */
async function writable(
  storage: RunsStorage,
  id: string,
  branch: string | undefined,
): Promise<{ run: Run; locked: <T>(action: () => Promise<T>) => Promise<T> }> {
  const { reading, run } = await oneRun(storage, id, branch);
  if (run.archive !== undefined)
    throw new BmadError('conflict', t`The run ${quoted(id)} is archived (${run.archive}).`, {
      subject: id,
      hint: t`Archived runs can only be read.`,
      steps: [OPEN_RUN],
    });
  const folder = folderOf(reading.folders, run.place);
  return { run, locked: (action) => lockedRuns(folder, action) };
}

/** Only files that exist are recorded: a reader of the list has to be able to rely on it. */
async function recordedArtefacts(
  { kit }: RunsStorage,
  place: RunPlace,
  paths: readonly string[],
  step: number | undefined,
): Promise<NonNullable<Change['artefacts']>> {
  const found: NonNullable<Change['artefacts']> = [];
  for (const path of paths) {
    const file = await artefactFile(kit.root, place, path);
    if (file === undefined)
      throw new BmadError(
        'not_found',
        t`There is no file ${quoted(path)} in the project; nothing was recorded.`,
        {
          subject: path.slice(0, 200),
          hint: t`Give paths relative to the project root${place.base === kit.root ? t`, or from ${place.path}` : ''}. Write the file first.`,
        },
      );
    const name = basename(file).replace(/(?<=.)\.[^.]+$/, '');
    // What lies in the run's own folder moves with it.
    const own = place.base === kit.root && file.startsWith(`${place.path}/`);
    const recorded = own ? file.slice(place.path.length + 1) : file;
    if (found.some((each) => each.path === recorded)) continue;
    found.push({ ...present({ step }), name, path: recorded });
  }
  return found;
}
