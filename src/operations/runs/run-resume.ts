import * as z from 'zod';
import { projectField, stepSchema } from '../fields.ts';
import { lines } from '../answer-text.ts';
import { defineOperation } from '../operation.ts';
import { branchField, runIdField } from './run-fields.ts';
import { asideText } from './run-aside.ts';
import { runText } from './run-text.ts';
import { runSchema } from './run-view.ts';

export const runResume = defineOperation({
  name: 'run_resume',
  title: 'How to continue a run',
  description:
    'What was done in a run, with which values and files, and how to continue. Without an id: the latest unfinished run.',
  effect: 'read',
  behind: { manage_project: 'run_resume' },
  command: 'run resume',
  positional: ['run_id'],
  input: z.strictObject({
    run_id: runIdField.optional().describe('Exact id; default: the latest open run'),
    branch: branchField.optional().describe('Session branch'),
    project: projectField,
  }),
  output: z.object({
    run: runSchema,
    start: z.string().optional(),
    notes: z.array(z.string()),
    steps: z.array(stepSchema),
  }),
  async run({ run_id: id, branch, project }, context, call) {
    const state = await context.state(project);
    const runs = await state.runs();
    const { agentSteps } = await import('./run-at-step.ts');
    const { createJudge } = await import('./run-standing.ts');
    const { isOver, latestOpen, wayOn } = await import('./run-way.ts');
    const reading = await runs.lately();
    const judge = await createJudge(state, reading, { context, project, signal: call.signal });
    const run =
      id === undefined
        ? await latestOpen(reading, branch, judge)
        : await judge.whole(await runs.one(id, branch));
    const start = run.workflow ?? run.served ?? run.workflow_path;
    const { notes, steps } = wayOn(run);
    const isGoing = !isOver(run) && run.aside?.kind !== 'dead';
    const agent = isGoing ? agentSteps(run, await context.workspace(project)) : [];
    return { run, ...(start === undefined ? {} : { start }), notes, steps: [...agent, ...steps] };
  },
  render: ({ run, notes, steps }) => ({
    body: lines(asideText(run), runText(run)),
    ...(notes.length === 0 ? {} : { note: lines(notes) }),
    steps,
  }),
});
