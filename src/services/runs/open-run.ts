import { randomBytes } from 'node:crypto';
import { sweepDrafts } from '../../base/files/leftovers.ts';
import { replaceShared } from '../../base/files/file-shared.ts';
import { join } from 'node:path';
import { hasFile, isRunId } from '../../kit/runs/run-folders.ts';
import type { RunFold } from '../../kit/runs/run-fold.ts';
import { BRANCH_FILE, MAIN } from '../../kit/runs/scan.ts';
import { checkpointId } from '../../kit/runs/state-file.ts';
import type { RunPlace } from '../../model/run.ts';
import { writeFolded } from './change-run.ts';
import {
  branchOf,
  checkedBranch,
  unknownBranch,
  folderOf,
  linesNow,
  lockedRuns,
  readOnly,
  type RunsStorage,
} from './storage.ts';
import { entryAfter, type RunAt, saying } from './write-run.ts';
import { withoutEnds } from '../../base/text/text.ts';

interface NewRun {
  /** Name to start the workflow with again. */
  workflow: string;
  workflowPath: string;
  branch?: string | undefined;
  total?: number | undefined;
  variables?: Readonly<Record<string, unknown>> | undefined;
  /** The agent that is at work. */
  agent?: string | undefined;
}

/** Says that there is a run, and makes its folder with its first state. The id says which workflow and when, and is nobody else's. */
export async function openRun(
  storage: RunsStorage,
  { workflow, workflowPath, branch, total, variables = {}, agent }: NewRun,
): Promise<{ id: string; branch: string; place: RunPlace }> {
  const before = await readOnly(storage, NONE);
  const name = checkedBranch(branch ?? before.current);
  const target = branchOf(before, name);
  if (target === undefined ? name !== MAIN : target.archive !== undefined) throw unknownBranch(name, before);
  const { write } = before.folders;
  const theirs = target === undefined ? write : folderOf(before.folders, target.place);
  // A branch that the other place has as well is continued where the state is kept now.
  const folder = theirs.owner === write.owner ? theirs : write;
  return lockedRuns(folder, async () => {
    const now = storage.now();
    const id = newId(workflow, now);
    const path = `${folder.path}/${name}`;
    await sweepDrafts(join(folder.base, path), folder.base);
    const place = { base: folder.base, path: `${path}/${id}` };
    // Only now: a branch that was archived in the meantime begins anew.
    if (!hasFile({ base: folder.base, path }, BRANCH_FILE))
      await writeBranchFile({ base: folder.base, path }, name, {});
    const at = now.toISOString();
    const state = {
      run_id: id,
      workflow,
      workflow_path: workflowPath,
      session_branch: name,
      started_at: at,
      last_checkpoint: at,
      status: 'running',
      steps_completed: [],
      current_step: 1,
      ...(total === undefined ? {} : { total_steps: total }),
      resume_from_step: 1,
      session_variables: { ...variables },
      artefacts_produced: [],
      checkpoint_id: checkpointId(id, 0, variables),
      issues: [],
      agent_notes: '',
      ...(agent === undefined ? {} : { agent }),
    };
    const run = { id, branch: name, place };
    const { entry } = entryAfter({ state: {}, latest: undefined }, { event: 'opened', state }, now);
    const view = await storage.view();
    await view.change(undefined, () => Promise.resolve({ said: [saying(run, entry)], answer: undefined }));
    await writeFolded(storage, run);
    await sweepLast(storage, run, { base: folder.base, path });
    return run;
  });
}

/** Whoever opened the run before this one may have been killed on the way, and perhaps nobody ever works on that one. */
async function sweepLast(
  storage: RunsStorage,
  { id, branch }: RunAt,
  { base, path }: RunPlace,
): Promise<void> {
  let last: RunFold | undefined;
  for (const each of (await linesNow(storage)).all())
    if (each.branch === branch && each.id !== id && (each.latest ?? '') >= (last?.latest ?? '')) last = each;
  if (last !== undefined && isRunId(last.id)) await sweepDrafts(join(base, path, last.id), base);
}

/** No run has it: branches are what is wanted. */
const NONE = '';

/** Two machines that share a project by git open runs in the same second: the last part is nobody else's. */
function newId(workflow: string, now: Date): string {
  const stamp = now
    .toISOString()
    .replace(/^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2}).*$/, '$1$2$3-$4$5$6');
  const name = withoutEnds((workflow.split('/').at(-1) ?? '').replace(/[^A-Za-z0-9_-]+/g, '-'), '-');
  return `${(name || 'run').slice(0, 60)}-${stamp}-${randomBytes(3).toString('hex')}`;
}

/**
 * The manifest of a branch in the form the kit's own commands write it. One that only comes with its first run says no time:
 * two machines that begin it write the same, and git has nothing to merge.
 */
export async function writeBranchFile(
  { base, path }: RunPlace,
  branch: string,
  { now, purpose, parent }: { now?: Date; purpose?: string | undefined; parent?: string | undefined },
): Promise<void> {
  const manifest = {
    branch,
    created_at: now?.toISOString().replace(/\.\d+Z$/, 'Z'),
    created_by: 'bmad-mcp-server',
    purpose: purpose ?? 'Session branch',
    parent_branch: parent ?? MAIN,
    status: 'active',
  };
  await replaceShared(base, `${path}/${BRANCH_FILE}`, `${JSON.stringify(manifest, null, 2)}\n`);
}
