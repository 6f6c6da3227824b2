import { t } from '../../base/text/message.ts';
import { join } from 'node:path';
import { BmadError, quoted } from '../../base/errors.ts';
import { replaceShared } from '../../base/files/file-shared.ts';
import { stateNames } from '../../base/files/file-state.ts';
import { filesBelow, moveFolder, sameBytes } from '../../base/files/file-tree.ts';
import { localDay } from '../../base/text/text.ts';
import { realFolder } from '../../base/files/files.ts';
import { ACTIVE_FILE, BRANCH_FILE, MAIN } from '../../kit/runs/scan.ts';
import { ARCHIVE } from '../../kit/runs/run-folders.ts';
import type { RunBranch } from '../../model/run.ts';
import {
  branchOf,
  checkedBranch,
  unknownBranch,
  folderOf,
  lockedRuns,
  readAll,
  type Reading,
  refuseLinks,
  type RunsStorage,
} from './storage.ts';
import { writeBranchFile } from './open-run.ts';

export async function createBranch(
  storage: RunsStorage,
  name: string,
  { purpose, parent }: { purpose?: string | undefined; parent?: string | undefined },
): Promise<{ branch: string; folder: string }> {
  checkedBranch(name);
  const reading = await readAll(storage);
  if (parent !== undefined && parent !== MAIN) knownBranch(reading, parent);
  const folder = reading.folders.write;
  return lockedRuns(folder, async () => {
    const place = { base: folder.base, path: `${folder.path}/${name}` };
    const taken = (await stateNames(join(folder.base, folder.path))).find(
      (known) => known.toLowerCase() === name.toLowerCase(),
    );
    // A folder without a manifest is what a crash or a person left; the branch is then made of it.
    const made = taken === name && !(await stateNames(join(place.base, place.path))).includes(BRANCH_FILE);
    if (taken !== undefined && !made)
      throw new BmadError('conflict', t`There is already a session branch ${quoted(taken)}.`, {
        subject: name,
        hint: t`Choose another name.`,
        steps: [{ operation: 'session_switch', args: { name: taken }, why: t`Or switch to it` }],
      });
    await writeBranchFile(place, name, { now: storage.now(), purpose, parent: parent ?? reading.current });
    return { branch: name, folder: place.path };
  });
}

/** From now on, what names no branch means this one. */
export async function switchBranch(
  storage: RunsStorage,
  name: string,
): Promise<{ branch: string; before: string; file: string }> {
  checkedBranch(name);
  const reading = await readAll(storage);
  const branch = name === MAIN ? branchOf(reading, MAIN) : knownBranch(reading, name);
  const folder = branch === undefined ? reading.folders.write : folderOf(reading.folders, branch.place);
  // The first folder that has a marker decides, so that is the one to write.
  const [first = folder] = reading.folders.read;
  await lockedRuns(first, () => replaceShared(first.base, `${first.path}/${ACTIVE_FILE}`, `${name}\n`));
  return { branch: name, before: reading.current, file: `${first.path}/${ACTIVE_FILE}` };
}

/** Files that only one of the two has, and those that both have with another content; `branch.json` does not count. */
export async function diffBranches(storage: RunsStorage, here: string, there: string) {
  const reading = await readAll(storage);
  const [left, right] = [
    folderPath(knownBranch(reading, here, true)),
    folderPath(knownBranch(reading, there, true)),
  ];
  const [files, others] = await Promise.all([filesOf(left), filesOf(right)]);
  const [known, tknown] = [new Set(files), new Set(others)];
  const different: string[] = [];
  for (const path of files.filter((each) => tknown.has(each)))
    if (!(await sameBytes(join(left, path), join(right, path)))) different.push(path);
  return {
    onlyHere: files.filter((path) => !tknown.has(path)),
    onlyThere: others.filter((path) => !known.has(path)),
    different,
  };
}

async function filesOf(folder: string): Promise<string[]> {
  return (await filesBelow(folder)).files.map(({ path }) => path).filter((path) => path !== BRANCH_FILE);
}

/** Puts a branch away as a whole. Its runs can still be read. */
export async function archiveBranch(
  storage: RunsStorage,
  name: string,
  force: boolean,
): Promise<{ branch: string; folder: string; notes: string[] }> {
  checkedBranch(name);
  if (name === MAIN)
    throw new BmadError('invalid_input', t`The session branch "main" cannot be archived.`, {
      subject: MAIN,
      hint: t`Work without a branch goes there.`,
    });
  const first = await readAll(storage);
  const folder = folderOf(first.folders, knownBranch(first, name).place);
  return lockedRuns(folder, async () => {
    const reading = await readAll(storage);
    const branch = knownBranch(reading, name);
    const going = runsNotOver(branch);
    if (going.length > 0 && !force) throw notOver({ name }, going, 'archive');
    const from = folderPath(branch);
    if ((await realFolder(from)) === undefined) throw unknownBranch(name, reading);
    const day = localDay(storage.now()).replaceAll('-', '');
    const known = await stateNames(join(folder.base, folder.path, ARCHIVE));
    let archive = `${name}-${day}`;
    for (let count = 2; known.includes(archive); count++) archive = `${name}-${day}-${count}`;
    const path = `${folder.path}/${ARCHIVE}/${archive}`;
    await refuseLinks(folder.base, `${folder.path}/${ARCHIVE}`);
    await moveFolder(from, join(folder.base, path));
    const notes: string[] = [];
    if (reading.current === name) {
      const [marker = folder] = reading.folders.read;
      await replaceShared(marker.base, `${marker.path}/${ACTIVE_FILE}`, `${MAIN}\n`);
      notes.push(t`It was the current session branch; now that is "${MAIN}" again.`);
    }
    if (going.length > 0) notes.push(t`Unfinished runs: ${going.join(', ')}.`);
    return { branch: name, folder: path, notes };
  });
}

/** The ids of the runs of a branch that somebody may still be at work on. */
export function runsNotOver({ runs }: RunBranch): string[] {
  return runs.filter(({ status }) => status === 'running' || status === 'paused').map(({ id }) => id);
}

export function notOver(
  args: { name: string; into?: string | undefined },
  going: readonly string[],
  what: 'merge' | 'archive',
): BmadError {
  const { name } = args;
  return new BmadError('conflict', t`${quoted(name)} has unfinished runs: ${going.join(', ')}.`, {
    subject: name,
    steps: [
      { operation: 'run_finish', args: { run_id: going[0] }, open: ['status'], why: t`Finish them` },
      {
        operation: `session_${what}`,
        args: { ...args, force: true },
        why: what === 'merge' ? t`Or merge it anyway` : t`Or archive it anyway`,
      },
    ],
  });
}

/** With `orArchived` also one that was put away, by the name of its folder. */
export function knownBranch(reading: Reading, name: string, orArchived = false): RunBranch {
  const found = branchOf(reading, name);
  if (found === undefined || (found.archive !== undefined && !orArchived)) throw unknownBranch(name, reading);
  return found;
}

export const folderPath = ({ place }: RunBranch): string => join(place.base, place.path);
