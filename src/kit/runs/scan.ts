import { t } from '../../base/text/message.ts';
import { type Table, textField } from '../../base/parse/parse.ts';
import type { Run, RunBranch, RunPlace, RunsReading } from '../../model/run.ts';
import type { Kit, StateFolder } from '../kit.ts';
import { readJson, readText, STATE_FILE } from './state-file.ts';
import { ALL_READ, KeptRuns } from './kept-runs.ts';
import {
  ARCHIVE,
  foldersIn,
  hasFile,
  hasRunFile,
  isRunId,
  namedFolder,
  runFoldersIn,
  runsFolders,
  type RunsFolders,
} from './run-folders.ts';
import { runName, type RunFold, type RunLines } from './run-fold.ts';
import type { RunName } from './read-run.ts';

export const BRANCH_FILE = 'branch.json';
export const ACTIVE_FILE = '.active-branch';
export const MAIN = 'main';

/** How runs are looked at. */
export interface Look {
  /** Only runs of this id are wanted: no other is read. Branches are all there, without their other runs. */
  id?: string;
  /** Of a branch with very many runs, those that have ended are read only if their ids have the latest dates. */
  lately?: boolean;
  /** What the lines of the project make of its runs. */
  lines?: RunLines;
  /** What was read before. */
  kept?: KeptRuns;
}

/** All branches and runs of a project, in every layout there has been; anything broken is reported and skipped. */
export async function readRuns(
  kit: Kit,
  { id, lately = false, kept = new KeptRuns(), lines }: Look = {},
): Promise<RunsReading & { folders: RunsFolders }> {
  const look: Looking = { root: kit.root, id, lately, kept, lines };
  const folders = await runsFolders(kit);
  const problems = [...folders.problems];
  const { current, currentFrom } = await currentBranch(folders, problems);
  const branches: RunBranch[] = [];
  for (const folder of folders.read) branches.push(...(await branchesIn(look, folder, current, problems)));
  branches.push(...(await withoutFolder(look, folders, branches)));
  const joined = joinedByName(branches);
  if (current !== MAIN && !joined.some(({ name, archive }) => name === current && archive === undefined))
    problems.push(t`The current session branch ${JSON.stringify(current)} (${currentFrom}) has no folder.`);
  return { branches: joined, current, currentFrom, problems, folders };
}

interface Looking {
  root: string;
  id: string | undefined;
  lately: boolean;
  kept: KeptRuns;
  lines: RunLines | undefined;
}

/** Runs that only the lines know of: git, or somebody, has taken their folders. With their next change these are made again. */
async function withoutFolder(
  look: Looking,
  { write }: RunsFolders,
  branches: readonly RunBranch[],
): Promise<RunBranch[]> {
  const { id, lately, lines } = look;
  const candidates: readonly RunFold[] = (lately ? lines?.open() : lines?.all()) ?? [];
  const wanted = id === undefined ? candidates : candidates.filter((fold) => fold.id === id);
  if (wanted.length === 0) return [];
  const known = new Set(branches.flatMap(({ runs }) => runs).map(runName));
  const found: RunBranch[] = [];
  for (const fold of wanted) {
    if (known.has(runName(fold)) || !isBranchName(fold.branch) || !isRunId(fold.id)) continue;
    const place = { base: write.base, path: `${write.path}/${fold.branch}` };
    const name = { id: fold.id, branch: fold.branch, archive: undefined };
    const run = await runAt(look, { ...place, path: `${place.path}/${fold.id}` }, name);
    if (run !== undefined) found.push(looseBranch(fold.branch, place, [run], undefined));
  }
  return found;
}

/** Two output folders may have a branch of the same name; they count as one. */
function joinedByName(branches: readonly RunBranch[]): RunBranch[] {
  const known = new Map<string, RunBranch>();
  for (const branch of branches) {
    const key = `${branch.archive ?? ''}/${branch.name}`;
    const first = known.get(key);
    known.set(
      key,
      first === undefined
        ? branch
        : {
            ...first,
            // A move that was cut short has left some in both places.
            runs: [
              ...first.runs,
              ...branch.runs.filter(({ id, place }) =>
                first.runs.every((run) => run.id !== id || run.place.base === place.base),
              ),
            ],
            older: first.older + branch.older,
            problems: [...first.problems, ...branch.problems],
          },
    );
  }
  const rank = ({ name, archive }: RunBranch): string =>
    `${archive === undefined ? 0 : 1}${name === MAIN ? 0 : 1}${archive ?? name}`;
  return [...known.values()].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

/** The branch that is worked on: a marker beside the branches, then the project's own file, then `main`. */
async function currentBranch(
  { read, sessionBranch }: RunsFolders,
  problems: string[],
): Promise<{ current: string; currentFrom: string }> {
  for (const { base, path } of read) {
    const text = await readText(base, `${path}/${ACTIVE_FILE}`);
    if (text === undefined) continue;
    const name = typeof text === 'string' ? text.trim() : '';
    if (isBranchName(name)) return { current: name, currentFrom: `${path}/${ACTIVE_FILE}` };
    problems.push(t`${path}/${ACTIVE_FILE} does not name a branch and is ignored.`);
  }
  if (sessionBranch !== undefined && isBranchName(sessionBranch))
    return { current: sessionBranch, currentFrom: 'session_branch in project-context.yaml' };
  return { current: MAIN, currentFrom: t`the default` };
}

const BRANCH_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
/** Names that some systems keep for devices. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;

export function isBranchName(name: string): boolean {
  return BRANCH_NAME.test(name) && name.toLowerCase() !== ARCHIVE && !DEVICE.test(name);
}

async function branchesIn(
  look: Looking,
  { base, path }: StateFolder,
  current: string,
  problems: string[],
): Promise<RunBranch[]> {
  const branches: RunBranch[] = [];
  const loose: Run[] = [];
  for (const name of await foldersIn(base, path, problems)) {
    if (name.startsWith('.') || name === ARCHIVE) continue;
    const place = { base, path: `${path}/${name}` };
    if (await isSingleRun(place, name, current)) {
      const run = await runAt(look, place, { id: name, branch: MAIN, archive: undefined });
      const named = run?.state?.branch;
      const branch = named !== undefined && isBranchName(named) ? named : MAIN;
      const own = branch === MAIN ? run : await runAt(look, place, { id: name, branch, archive: undefined });
      if (own !== undefined) loose.push(own);
    } else branches.push(await readBranch(look, place, { name, archive: undefined }));
  }
  for (const archive of await foldersIn(base, `${path}/${ARCHIVE}`, problems)) {
    const place = { base, path: `${path}/${ARCHIVE}/${archive}` };
    const name = archive.replace(/-\d{8}(?:-\d+)?$/, '');
    if (await isSingleRun(place, archive, '')) {
      const run = await runAt(look, place, { id: archive, branch: MAIN, archive });
      if (run !== undefined) branches.push(looseBranch(MAIN, place, wanted(look, run), archive));
    } else branches.push(await readBranch(look, place, { name, archive }));
  }
  // Runs outside a branch folder come with the branch that they name.
  for (const run of loose)
    branches.push(
      looseBranch(run.branch, { base, path: `${path}/${run.branch}` }, wanted(look, run), undefined),
    );
  return branches;
}

/** A run that is not looked for still tells of its branch. */
const wanted = ({ id }: Looking, run: Run): Run[] => (id === undefined || id === run.id ? [run] : []);

function looseBranch(name: string, place: RunPlace, runs: Run[], archive: string | undefined): RunBranch {
  const nothing = { purpose: undefined, createdAt: undefined, createdBy: undefined, parent: undefined };
  return { name, archive, place, status: 'active', ...nothing, runs, older: 0, problems: [] };
}

/** The first layout had runs directly in `.runs`; a later one keeps a state in the folder of the branch. */
async function isSingleRun(place: RunPlace, name: string, current: string): Promise<boolean> {
  if (name === MAIN || name === current) return false;
  if (!hasRunFile(place) || hasFile(place, BRANCH_FILE)) return false;
  return (await runFoldersIn(place)).length === 0;
}

async function readBranch(
  look: Looking,
  place: RunPlace,
  { name, archive }: { name: string; archive: string | undefined },
): Promise<RunBranch> {
  const problems: string[] = [];
  const { table, broken } = await readJson(place.base, `${place.path}/${BRANCH_FILE}`);
  if (broken !== undefined) problems.push(`${place.path}/${BRANCH_FILE} ${broken}.`);
  const called = table === undefined ? undefined : (textField(table, 'branch') ?? textField(table, 'name'));
  if (called !== undefined && called !== name)
    problems.push(
      t`${place.path}/${BRANCH_FILE} says branch ${JSON.stringify(called.slice(0, 80))}; the folder is ${name}, which is used.`,
    );
  const folders =
    look.id === undefined ? await look.kept.folders(place, problems) : await namedFolder(place, look.id);
  const read =
    look.lately && folders.length > ALL_READ
      ? await look.kept.unended(place, name, folders, look.lines)
      : folders;
  const names: [RunName, RunPlace][] = read.map((id) => [
    { id, branch: name, archive },
    { base: place.base, path: `${place.path}/${id}` },
  ]);
  if (hasRunFile(place)) {
    const state = await readJson(place.base, `${place.path}/${STATE_FILE}`);
    const said = state.table === undefined ? undefined : textField(state.table, 'run_id');
    const id = said !== undefined && isRunId(said) ? said : name;
    if (look.id === undefined || look.id === id) names.push([{ id, branch: name, archive }, place]);
  }
  const runs = await look.kept.readMany(look.root, names, look.lines);
  return { name, archive, place, ...aboutOf(table), runs, older: folders.length - read.length, problems };
}

function aboutOf(
  table: Table | undefined,
): Pick<RunBranch, 'status' | 'purpose' | 'createdAt' | 'createdBy' | 'parent'> {
  const text = (name: string): string | undefined =>
    table === undefined ? undefined : textField(table, name)?.trim() || undefined;
  return {
    status: text('status')?.toLowerCase() ?? 'active',
    purpose: text('purpose'),
    createdAt: text('created_at'),
    createdBy: text('created_by'),
    parent: text('parent_branch') ?? text('parent'),
  };
}

const runAt = ({ root, kept, lines }: Looking, place: RunPlace, name: RunName): Promise<Run | undefined> =>
  kept.read(root, place, name, lines);
