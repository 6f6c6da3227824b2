import { t } from '../../base/text/message.ts';
import { join } from 'node:path';
import { basename, dirname } from 'node:path/posix';
import { BmadError, quoted } from '../../base/errors.ts';
import { replaceShared } from '../../base/files/file-shared.ts';
import { newWorkFolder, removeTree, stateNames } from '../../base/files/file-state.ts';
import { copyFiles, copyNew, filesBelow, moveFolder, sameTree } from '../../base/files/file-tree.ts';
import { pathExists, realFolder } from '../../base/files/files.ts';
import type { Table } from '../../base/parse/parse.ts';
import { readJson, STATE_FILE, stateDigest } from '../../kit/runs/state-file.ts';
import { JOURNAL_FILE } from '../../kit/runs/read-run.ts';
import { LEFT, runEntity, RUNS, runName, standingOf } from '../../kit/runs/run-fold.ts';
import { BRANCH_FILE, MAIN } from '../../kit/runs/scan.ts';
import type { Saying, View } from '../../lines/view.ts';
import type { Run, RunPlace } from '../../model/run.ts';
import { folderPath, knownBranch, notOver, runsNotOver } from './branches.ts';
import {
  checkedBranch,
  folderOf,
  linesNow,
  lockedRuns,
  readAll,
  refuseLinks,
  type RunsStorage,
  withDrafts,
} from './storage.ts';
import { writeBranchFile } from './open-run.ts';
import { beforeChange, entryAfter, journalOf, moving, toldOf, writeState, type RunAt } from './write-run.ts';

interface Merged {
  branch: string;
  into: string;
  /** Runs that were copied, under their own id. */
  copied: string[];
  /** Runs that were not over, by the id they have there: they were taken along, and are in the source no more. */
  moved: string[];
  /** Runs that got another id, because the target has another run of that name. */
  renamed: { from: string; to: string }[];
  /** Runs that the target had already. */
  already: string[];
  /** Files beside the runs: copied, and left because the target has another of that name. */
  files: string[];
  left: string[];
  notes: string[];
}

/**
 * Copies the runs of a branch into another. Nothing of the target is overwritten, its manifest least of all. Doing it
 * again after a crash completes it.
 */
export async function mergeBranch(
  storage: RunsStorage,
  name: string,
  into = MAIN,
  force = false,
): Promise<Merged> {
  checkedBranch(name);
  checkedBranch(into);
  if (name === into)
    throw new BmadError('invalid_input', t`${quoted(name)} cannot be merged into itself.`, {
      subject: name,
      hint: t`Name a different branch with "into".`,
    });
  const first = await readAll(storage);
  const folder = folderOf(first.folders, knownBranch(first, name).place);
  if (into !== MAIN) knownBranch(first, into);
  return lockedRuns(folder, () =>
    withDrafts(folder, async (aside) => {
      const reading = await readAll(storage);
      const source = knownBranch(reading, name);
      const going = runsNotOver(source);
      // Two copies of a run that both go on would be two truths of one piece of work: it is taken along, if at all.
      if (going.length > 0 && !force) throw notOver({ name, into }, going, 'merge');
      const target = { base: folder.base, path: `${folder.path}/${into}` };
      const drafts = join(aside.base, aside.path);
      await refuseLinks(target.base, target.path);
      const merged: Merged = {
        branch: name,
        into,
        copied: [],
        moved: [],
        renamed: [],
        already: [],
        files: [],
        left: [],
        notes: [],
      };
      if (!(await stateNames(join(target.base, target.path))).includes(BRANCH_FILE))
        await writeBranchFile(target, into, {});
      const own = source.runs.filter(({ place }) => dirname(place.path) === source.place.path);
      for (const run of own)
        await takeRun(storage, run, { name, into, target, drafts, whole: going.includes(run.id) }, merged);
      const inRuns = (path: string): boolean =>
        own.some(({ place }) => path.startsWith(`${basename(place.path)}/`));
      const { files, left } = await filesBelow(folderPath(source));
      merged.left.push(...left.filter((path) => !inRuns(path)));
      for (const { path } of files.filter((file) => file.path !== BRANCH_FILE && !inRuns(file.path)))
        await takeFile(folderPath(source), target, path, merged);
      if (merged.moved.length > 0)
        merged.notes.push(t`Unfinished, and therefore continued in ${into}: ${merged.moved.join(', ')}.`);
      if (name !== MAIN) await markMerged(source.place, name, into, storage, merged);
      return merged;
    }),
  );
}

interface Taking {
  name: string;
  into: string;
  target: RunPlace;
  drafts: string;
  /** Whether the run itself goes over, and no copy of it. */
  whole: boolean;
}

async function takeRun(
  storage: RunsStorage,
  from: Run,
  { name, into, target, drafts, whole }: Taking,
  merged: Merged,
): Promise<void> {
  const { id } = from;
  const source = join(from.place.base, from.place.path);
  const { there, isThere } = await nameIn(storage, target, from, { name, into });
  const to = there.id;
  const place = join(there.place.base, there.place.path);
  if (isThere) {
    // Its equal is there, file by file: an earlier merge left both.
    const hasLinks = whole && (await filesBelow(source)).left.length > 0;
    if (hasLinks)
      merged.notes.push(t`${id} has links, which ${to} does not have, so it also stays in ${name}.`);
    const goes = whole && !hasLinks;
    (goes ? merged.moved : merged.already).push(to);
    if (!goes) return;
    await removeTree(source);
    const view = await storage.view();
    if (!view.of(RUNS).isInLines(runName(there)))
      await rename(storage, from, there, { at: there.place, leaves: true }, merged);
    else await say(view, leaving(view, from, there));
    return;
  }
  if (to !== id) merged.renamed.push({ from: id, to });
  const isFolder = (await realFolder(source)) !== undefined;
  if (whole) {
    // Wherever a crash strikes, its files are in one place; what it says of itself follows with its next change.
    if (isFolder) await moveFolder(source, place);
    await rename(storage, from, there, { at: there.place, leaves: true }, merged);
    merged.moved.push(to);
    return;
  }
  const draft = await newWorkFolder(drafts);
  const left = isFolder ? await copyFiles(source, draft) : [];
  if (left.length > 0) merged.notes.push(t`${id}: links were not copied: ${left.join(', ')}.`);
  await rename(storage, from, there, { at: { base: draft, path: '.' }, leaves: false }, merged);
  await moveFolder(draft, place);
  if (to === id) merged.copied.push(id);
}

/** The name of a run in the target: one that is free, or that this very run has there already. */
async function nameIn(
  storage: RunsStorage,
  target: RunPlace,
  from: Run,
  { name, into }: Pick<Taking, 'name' | 'into'>,
): Promise<{ there: RunAt; isThere: boolean }> {
  const taken = await stateNames(join(target.base, target.path));
  const id = basename(from.place.path);
  for (let count = 0; ; count++) {
    const to = [id, `${id}-from-${name}`][count] ?? `${id}-from-${name}-${count}`;
    const place = { base: target.base, path: `${target.path}/${to}` };
    const there = { id: to, branch: into, place };
    const isThere = taken.includes(to);
    if (!isThere || (await holds(storage, there, from))) return { there, isThere };
  }
}

/**
 * The lines say what happened to the run before and where it lies now, and so does its state. One that `leaves` is in its old
 * branch no more. A state that cannot be understood is taken as it is.
 */
async function rename(
  storage: RunsStorage,
  from: Run,
  there: RunAt,
  { at, leaves }: { at: RunPlace; leaves: boolean },
  merged: Merged,
): Promise<void> {
  const now = storage.now();
  const view = await storage.view();
  const lines = view.of(RUNS);
  const source = { ...from, place: at };
  const ends = leaves ? leaving(view, from, there) : [];
  try {
    for (let isDone = false; !isDone;)
      isDone = await view.change(undefined, async () => {
        const before = await beforeChange(source, await toldOf(source, lines));
        const state = { ...before.state, run_id: there.id, session_branch: there.branch };
        const { entry } = entryAfter(before, { event: 'adopted', state, notes: 'merged' }, now);
        const entries = [...(await journalOf(source, lines)), entry];
        const { said, isLast } = moving(there, entries, lines);
        return { said: isLast ? [...said, ...ends] : said, answer: isLast };
      });
    const state = lines.get(runName(there))?.state;
    if (state !== undefined) await writeState(at, state);
  } catch (error) {
    if (!(error instanceof BmadError) || error.code === 'forbidden') throw error;
    merged.notes.push(t`${there.id}: its state was copied unchanged. ${error.message}`);
    await say(view, ends);
  }
}

/** That a run goes on in another branch. */
const leaving = (view: View, from: Run, there: RunAt): Saying[] =>
  view.of(RUNS).get(runName(from)) === undefined
    ? []
    : [{ of: runEntity(from), do: LEFT, data: { to: runName(there) } }];

const say = (view: View, said: readonly Saying[]): Promise<void> =>
  view.change(undefined, () => Promise.resolve({ said, answer: undefined }));

/** Whether a run of the target is this very run, perhaps further on: every file of it, and its state at some time. */
async function holds(storage: RunsStorage, run: RunAt, from: RunAt): Promise<boolean> {
  const [target, source] = [run.place, from.place];
  const [here, there] = [join(target.base, target.path), join(source.base, source.path)];
  if (!(await sameTree(there, here, [STATE_FILE, JOURNAL_FILE]))) return false;
  const { table, broken } = await readJson(source.base, `${source.path}/${STATE_FILE}`);
  if (broken !== undefined)
    return sameTree(join(here, STATE_FILE), join(there, STATE_FILE)).catch(() => false);
  const lines = await linesNow(storage);
  // A file may have stayed behind: what counts is what was taken along the first time.
  const { state: counts } = standingOf((await toldOf(from, lines)).fold, table);
  if (counts === undefined) return true;
  const wanted = essence(counts);
  const now = await readJson(target.base, `${target.path}/${STATE_FILE}`);
  if (now.table !== undefined && essence(now.table) === wanted) return true;
  const entries = await journalOf(run, lines);
  return entries.some(({ state }) => state !== undefined && essence(state) === wanted);
}

/** A state without what differs between two places. */
function essence({ run_id: _id, session_branch: _branch, branch: _other, ...rest }: Table): string {
  return stateDigest(rest);
}

async function takeFile(source: string, target: RunPlace, path: string, merged: Merged): Promise<void> {
  const to = join(target.base, target.path, path);
  if (!(await pathExists(to))) {
    await refuseLinks(target.base, dirname(`${target.path}/${path}`));
    await copyNew(join(source, path), to);
    merged.files.push(path);
  } else if (!(await sameTree(join(source, path), to))) merged.left.push(path);
}

/** The manifest of the source keeps what it has; one that cannot be read is left as it is. */
async function markMerged(
  place: RunPlace,
  name: string,
  into: string,
  storage: RunsStorage,
  merged: Merged,
): Promise<void> {
  const path = `${place.path}/${BRANCH_FILE}`;
  const { table, broken } = await readJson(place.base, path);
  if (broken !== undefined) {
    merged.notes.push(t`${path} ${broken} and was left unchanged; the branch is not marked as merged.`);
    return;
  }
  const manifest = {
    branch: name,
    ...table,
    status: 'merged',
    merged_into: into,
    merged_at: storage.now().toISOString(),
  };
  await replaceShared(place.base, path, `${JSON.stringify(manifest, null, 2)}\n`);
}
