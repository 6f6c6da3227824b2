import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { contentUri } from '../../base/files/paths.ts';
import { qualifiedName, type BmadRecord } from '../../model/record.ts';
import { moduleField, projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { openRuns, workflowOf } from './open-runs.ts';
import { branchField, stepField, variablesField, withoutSecrets } from './run-fields.ts';
import { runSchema } from './run-view.ts';
import { dayOf } from '../project/age.ts';
import { findRecord } from '../catalogue/targets.ts';
import { agentField } from '../project/log-view.ts';

export const runOpen = defineOperation({
  name: 'run_open',
  title: 'Open a workflow run',
  description:
    'Open a run: a folder that keeps the state of a workflow in progress, so that it can be tracked, interrupted and resumed. Then start the workflow with its run_id.',
  effect: 'write',
  keeps: true,
  behind: { manage_project: 'run_open' },
  command: 'run open',
  picks: { workflow: 'workflow' },
  positional: ['workflow'],
  synonyms: { workflow_name: 'workflow', name: 'workflow' },
  input: z.strictObject({
    workflow: z.string().min(1).max(5_000).describe('Name of the workflow, e.g. "prd", "bmm/prd"'),
    module: moduleField,
    branch: branchField.optional().describe('Session branch; default: the current one'),
    total_steps: stepField
      .optional()
      .describe('How many steps it has, where the workflow has no file for each'),
    variables: variablesField.optional().describe('Values to keep with the run, by name'),
    agent: agentField.optional().describe('The agent at work'),
    project: projectField,
  }),
  output: z.object({
    run: runSchema,
    start: z.string(),
    /** Another run of the same workflow that is open already. */
    open_already: z.string().optional(),
    /** The day of its last checkpoint. */
    open_since: z.string().optional(),
  }),
  async run({ workflow, module, branch, total_steps: told, variables, agent, project }, context) {
    const workspace = await context.workspace(project);
    const record = findRecord({ name: workflow, kind: 'workflow', module, fuzzy: false }, workspace, context);
    const state = await context.state(project);
    const runs = await state.runs();
    const name = qualifiedName(record);
    const { agentAtWork, runAtStep, stepFilesFor } = await import('./run-at-step.ts');
    const files = await stepFilesFor(record, workspace);
    const before = openRuns(await runs.lately()).find((each) => workflowOf(each) === name);
    const opened = await runs.open({
      workflow: name,
      workflowPath: pathOf(record, state.root),
      branch,
      total: files?.total ?? told,
      variables: withoutSecrets(variables, context),
      agent: agentAtWork(agent),
    });
    const run = await runs.one(opened.id, opened.branch);
    return {
      run: await runAtStep(run, state.root, context, project),
      start: name,
      ...(before === undefined ? {} : { open_already: before.id, open_since: dayOf(before.latest) }),
    };
  },
  render: ({ run, start, open_already: before, open_since: since }) => ({
    body: t`Opened ${run.run_id} (session branch ${run.branch}) in ${run.folder}`,
    ...(before === undefined
      ? {}
      : {
          note: t`${before} is a run of the same workflow and still open, last touched ${since ?? ''}: if that is the one you meant, resume it and finish this one as abandoned.`,
        }),
    steps: [
      ...(before === undefined
        ? []
        : [{ operation: 'run_resume', args: { run_id: before }, why: t`Resume the earlier one instead` }]),
      { operation: 'execute', args: { name: start, kind: 'workflow', run_id: run.run_id }, why: t`Start it` },
    ],
  }),
});

/** Where the workflow is: a file of the project, or one that the server brings. */
function pathOf({ absolutePath, bmadRelativePath }: BmadRecord, root: string): string {
  const inside = absolutePath.startsWith(`${root}/`) ? absolutePath.slice(root.length + 1) : undefined;
  return inside ?? contentUri(bmadRelativePath);
}
