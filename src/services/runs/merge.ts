import { join } from 'node:path';
import { basename, dirname } from 'node:path/posix';
import { BmadError, quoted } from '../../base/errors.ts';
import { replaceShared } from '../../base/files/file-shared.ts';
import { newWorkFolder, removeTree, stateNames } from '../../base/files/file-state.ts';
import { copyFiles, copyNew, filesBelow, moveFolder, sameBytes } from '../../base/files/file-tree.ts';
import type { Table } from '../../base/parse/parse.ts';
import { stateDigest } from '../../kit/runs/checkpoint-id.ts';
import { JOURNAL_FILE, journalIn } from '../../kit/runs/journal.ts';
import { readJson, readText } from '../../kit/runs/json-file.ts';
import { BRANCH_FILE, MAIN } from '../../kit/runs/scan.ts';
import { STATE_FILE } from '../../kit/runs/state-file.ts';
import type { RunPlace } from '../../model/run.ts';
import { folderPath, knownBranch, notOver, runsNotOver } from './branches.ts';
import { checkedBranch } from './find.ts';
import { writeBranchFile } from './open-run.ts';
import { folderOf, lockedRuns, withDrafts, readAll, refuseLinks, type RunsStorage } from './storage.ts';
import { beforeChange, writeChange } from './write-run.ts';

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
    throw new BmadError('invalid_input', `${quoted(name)} cannot be merged into itself.`, {
      subject: name,
      hint: 'Name a different branch with "into".',
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
        await writeBranchFile(target, into, storage.now(), {});
      const own = source.runs.filter(({ place }) => dirname(place.path) === source.place.path);
      for (const { id, place } of own)
        await takeRun(storage, place, { name, into, target, drafts, whole: going.includes(id) }, merged);
      const inRuns = (path: string): boolean =>
        own.some(({ place }) => path.startsWith(`${basename(place.path)}/`));
      const { files, left } = await filesBelow(folderPath(source));
      merged.left.push(...left.filter((path) => !inRuns(path)));
      for (const { path } of files.filter((file) => file.path !== BRANCH_FILE && !inRuns(file.path)))
        await takeFile(folderPath(source), target, path, merged);
      if (merged.moved.length > 0)
        merged.notes.push(
          `Unfinished and therefore moved: ${merged.moved.join(', ')} ${merged.moved.length === 1 ? 'continues' : 'continue'} in ${into}.`,
        );
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
  from: RunPlace,
  { name, into, target, drafts, whole }: Taking,
  merged: Merged,
): Promise<void> {
  const id = basename(from.path);
  const source = join(from.base, from.path);
  const { to, place, isThere } = await nameIn(target, from, id, name);
  if (isThere) {
    // Its equal is there, file by file: an earlier merge left both.
    const hasLinks = whole && (await filesBelow(source)).left.length > 0;
    if (hasLinks)
      merged.notes.push(`${id} has links, which ${to} does not have, so it also stays in ${name}.`);
    (whole && !hasLinks ? merged.moved : merged.already).push(to);
    if (whole && !hasLinks) await removeTree(source);
    return;
  }
  if (to !== id) merged.renamed.push({ from: id, to });
  if (whole) {
    // Wherever a crash strikes, it is in one place; what it says of itself follows with its next change.
    await moveFolder(source, join(place.base, place.path));
    await rename(storage, place, to, into, merged);
    merged.moved.push(to);
    return;
  }
  const draft = await newWorkFolder(drafts);
  const left = await copyFiles(source, draft);
  if (left.length > 0) merged.notes.push(`${id}: links were not copied: ${left.join(', ')}.`);
  await rename(storage, { base: draft, path: '.' }, to, into, merged);
  await moveFolder(draft, join(place.base, place.path));
  if (to === id) merged.copied.push(id);
}

/** The name of a run in the target: one that is free, or that this very run has there already. */
async function nameIn(
  target: RunPlace,
  from: RunPlace,
  id: string,
  branch: string,
): Promise<{ to: string; place: RunPlace; isThere: boolean }> {
  const taken = await stateNames(join(target.base, target.path));
  for (let count = 0; ; count++) {
    const to = [id, `${id}-from-${branch}`][count] ?? `${id}-from-${branch}-${count}`;
    const place = { base: target.base, path: `${target.path}/${to}` };
    const isThere = taken.includes(to);
    if (!isThere || (await holds(place, from))) return { to, place, isThere };
  }
}

/** The copy says where it lies now. A state that cannot be understood is copied as it is. */
async function rename(
  storage: RunsStorage,
  draft: RunPlace,
  id: string,
  branch: string,
  merged: Merged,
): Promise<void> {
  try {
    const before = await beforeChange(draft);
    const state = { ...before.state, run_id: id, session_branch: branch };
    await writeChange(draft, before, { event: 'adopted', state, notes: 'merged' }, storage.now());
  } catch (error) {
    if (!(error instanceof BmadError) || error.code === 'forbidden') throw error;
    merged.notes.push(`${id}: its state cannot be read and was copied unchanged.`);
  }
}

/** Whether a run of the target is this very run, perhaps further on: every file of it, and its state at some time. */
async function holds(target: RunPlace, source: RunPlace): Promise<boolean> {
  const [here, there] = [join(target.base, target.path), join(source.base, source.path)];
  const known = new Set((await filesBelow(here)).files.map(({ path }) => path));
  for (const { path } of (await filesBelow(there)).files) {
    if (path === STATE_FILE || path === JOURNAL_FILE) continue;
    if (!known.has(path) || !(await sameBytes(join(here, path), join(there, path)))) return false;
  }
  const { table, broken } = await readJson(source.base, `${source.path}/${STATE_FILE}`);
  if (broken !== undefined)
    return sameBytes(join(here, STATE_FILE), join(there, STATE_FILE)).catch(() => false);
  if (table === undefined) return true;
  const wanted = essence(table);
  const now = await readJson(target.base, `${target.path}/${STATE_FILE}`);
  if (now.table !== undefined && essence(now.table) === wanted) return true;
  const text = await readText(target.base, `${target.path}/${JOURNAL_FILE}`);
  const entries = typeof text === 'string' ? journalIn(text).entries : [];
  return entries.some(({ state }) => state !== undefined && essence(state) === wanted);
}

/** A state without what differs between two places. */
function essence({ run_id: _id, session_branch: _branch, branch: _other, ...rest }: Table): string {
  return stateDigest(rest);
}

async function takeFile(source: string, target: RunPlace, path: string, merged: Merged): Promise<void> {
  const to = join(target.base, target.path, path);
  const same = await sameBytes(join(source, path), to).catch(() => undefined);
  if (same === undefined) {
    await refuseLinks(target.base, dirname(`${target.path}/${path}`));
    await copyNew(join(source, path), to);
    merged.files.push(path);
  } else if (!same) merged.left.push(path);
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
    merged.notes.push(`${path} ${broken} and was left unchanged; the branch is not marked as merged.`);
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
