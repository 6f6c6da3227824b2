import { openRuns, type Runs } from '../../src/services/runs/runs.ts';
import { setupIn } from './tasks.ts';
import { join } from 'node:path';

const state = (values: Record<string, unknown>): string => `${JSON.stringify(values, null, 2)}\n`;

/** What a run looks like that an assistant has kept by the kit's own instructions. */
export function kitState(more: Record<string, unknown> = {}): string {
  return state({
    run_id: 'dev-story-20260227-143022',
    workflow_path: '_bmad/bmm/workflows/4-implementation/dev-story/workflow.yaml',
    session_branch: 'main',
    started_at: '2026-02-27T14:30:22Z',
    last_checkpoint: '2026-02-27T14:41:00Z',
    status: 'running',
    steps_completed: [1, 2, 3],
    current_step: 4,
    total_steps: 8,
    resume_from_step: 4,
    session_variables: { user_name: 'Alice' },
    artefacts_produced: [{ step: 1, name: 'analysis', path: 'artefacts/step-01-output.md' }],
    checkpoint_id: 'a3f9b2',
    issues: [],
    agent_notes: '',
    ...more,
  });
}

/** The same as somebody left it a moment ago. */
export const recentState = (more: Record<string, unknown> = {}): string =>
  kitState({ last_checkpoint: new Date(Date.now() - 60_000).toISOString(), ...more });

export const branchFile = (name: string, more: Record<string, unknown> = {}): string =>
  state({
    branch: name,
    created_at: '2026-02-01T10:00:00Z',
    created_by: 'bmad-init',
    purpose: 'Session branch created by bmad-init.sh',
    parent_branch: 'main',
    status: 'active',
    ...more,
  });

const RUNS = '_bmad-output/.runs';

/** A project after some use: two branches, one of them merged by the kit and archived. */
export const RUN_FILES: Readonly<Record<string, string>> = {
  '_bmad/_memory/config.yaml': 'output_folder: "{project-root}/_bmad-output"\n',
  'project-context.yaml': 'project:\n  name: "Corner Shop"\n',
  [`${RUNS}/main/branch.json`]: branchFile('explore-graphql'),
  [`${RUNS}/main/dev-story-20260227-143022/state.json`]: kitState(),
  [`${RUNS}/main/dev-story-20260227-143022/artefacts/step-01-output.md`]: '# Analysis\n',
  [`${RUNS}/main/architecture-run-001/state.json`]: kitState({
    run_id: 'architecture-run-001',
    session_branch: 'explore-graphql',
    status: 'completed',
    started_at: '2026-02-26T14:30:22Z',
    last_checkpoint: '2026-02-26T14:41:00Z',
    artefacts_produced: [],
  }),
  [`${RUNS}/archive/explore-graphql-20261114/branch.json`]: branchFile('explore-graphql', {
    status: 'merged',
  }),
  [`${RUNS}/archive/explore-graphql-20261114/architecture-run-001/state.json`]: kitState({
    run_id: 'architecture-run-001',
    session_branch: 'explore-graphql',
    status: 'completed',
    artefacts_produced: [],
  }),
};

/** The runs of a project in a folder, with what belongs to the user beside it. */
export async function runsIn(folder: string, now?: () => Date): Promise<Runs> {
  const setup = await setupIn(folder, join(folder, '..', 'user-state'));
  return openRuns(now === undefined ? setup : { ...setup, now });
}
