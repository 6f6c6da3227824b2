import * as z from 'zod';
import { BmadError, quoted } from '../base/errors.ts';
import { shownText } from '../base/secret-text.ts';
import { nearest } from '../base/suggest.ts';
import type { Context, ProjectState } from './context.ts';
import { contextFiles } from './context-files.ts';
import { projectField } from './fields.ts';
import { defineOperation } from './operation.ts';
import { agentNamed } from './task-agents.ts';
import { outputKeyField, taskLine, taskView, viewOf } from './task-view.ts';

const BRIEF_BYTES = 60_000;
const KNOWN = 5;

export const spawnSubagentTask = defineOperation({
  name: 'spawn_subagent_task',
  title: 'Queue work for a sub-agent',
  description:
    'Queue a task with a self-contained brief: persona, context files, decisions. Workers take it with task_claim.',
  effect: 'write',
  toolset: 'project',
  command: 'task add',
  positional: ['agent', 'task'],
  input: z.strictObject({
    agent: z.string().min(1).max(200).describe('Who does it'),
    task: z.string().min(1).max(100_000).describe('What to do, complete by itself'),
    output_key: outputKeyField.describe('Name of the result'),
    context_files: z.array(z.string().min(1).max(1_000)).max(50).optional().describe('Paths in the project'),
    run_id: z.string().min(1).max(200).optional().describe('Run it belongs to'),
    depends_on: z.array(outputKeyField).max(50).optional().describe('Output keys it waits for'),
    needs_approval: z.string().min(1).max(2_000).optional().describe('Why a person must agree first'),
    project: projectField,
  }),
  output: z.object({
    task: taskView,
    brief_bytes: z.int(),
    left_out: z.array(z.string()),
    kept_in: z.string(),
  }),

  async run(input, context, call) {
    const { agent, output_key, run_id, depends_on = [], needs_approval, project } = input;
    const hide = (text: string): string => context.secrets.hide(text);
    const task = shownText(input.task, hide);
    const workspace = await context.workspace(project);
    const record = agentNamed(agent, workspace, context);
    const state = await context.state(project);
    await checkRun(run_id, state);
    const files = await contextFiles(state.root, input.context_files ?? [], hide);
    const [tasks, profile, known] = await Promise.all([
      state.tasks(),
      workspace.delivery.profile(record),
      relevant(task, context, project, call.signal),
    ]);
    const handle = workspace.catalogue.names.handleOf(record);
    const brief = tasks.composeBrief({
      agent: {
        name: record.displayName ?? handle,
        title: record.title ?? '',
        role: profile.role,
        identity: profile.identity,
      },
      activation: `bmad {operation:"execute", agent:"${handle}"}`,
      task,
      outputKey: output_key,
      files,
      ...known,
      dependsOn: depends_on,
      maxBytes: BRIEF_BYTES,
    });
    const added = await tasks.queue.add(
      {
        agent: handle,
        task,
        outputKey: output_key,
        contextFiles: files.map(({ path }) => path),
        dependsOn: depends_on,
        runId: run_id,
        createdBy: 'bmad',
        approval: needs_approval,
        brief: brief.text,
      },
      call.signal,
    );
    const { folder, owner } = tasks.queue.place;
    return {
      task: viewOf(added),
      brief_bytes: Buffer.byteLength(brief.text),
      left_out: brief.leftOut,
      kept_in: owner === 'project' ? folder : `the user's state folder (${folder})`,
    };
  },

  render: ({ task, brief_bytes, left_out, kept_in }) => ({
    body: [
      taskLine(task),
      `Kept in ${kept_in}; the brief has ${brief_bytes} bytes.`,
      ...(left_out.length === 0 ? [] : [`Left out for length: ${left_out.join('; ')}.`]),
    ].join('\n'),
    note:
      task.status === 'needs_approval'
        ? `A person has to agree first: bmad task approve ${task.task_id}`
        : `To do it: task_claim, then task_complete with the claim. task_show has the brief for a sub-agent.`,
  }),
});

/** A task of a run that is not there would be found by nobody who looks for the tasks of a run. */
async function checkRun(id: string | undefined, state: ProjectState): Promise<void> {
  if (id === undefined) return;
  const { branches } = await (await state.runs()).read();
  const ids = branches.flatMap(({ runs }) => runs.map((run) => run.id));
  if (ids.includes(id)) return;
  throw new BmadError('not_found', `There is no run ${quoted(id)}.`, {
    subject: id,
    suggestions: nearest(id, ids),
    hint: 'run_open opens one; leave run_id out for a task of no run.',
  });
}

/** What the project has decided and learned the hard way about such a task. Without a memory there is nothing. */
async function relevant(
  query: string,
  context: Context,
  project: string | undefined,
  signal: AbortSignal,
): Promise<{ decisions: string[]; failures: string[] }> {
  try {
    const memory = await context.memory(project);
    const of = async (type: 'decisions' | 'failures') => {
      const { hits } = await memory.recall(
        {
          query: query.slice(0, 2_000),
          alternatives: [],
          types: [type],
          tags: [],
          limit: KNOWN,
          superseded: false,
        },
        signal,
      );
      return hits.map(({ entry }) => entry);
    };
    const facts = await (await context.state(project)).facts();
    const failures = (await of('failures')).map(({ text, tags }) => {
      const { title, rule, lesson, fix } = facts.failureIn(text, tags);
      const [label, told] =
        rule !== undefined ? ['Rule', rule] : lesson !== undefined ? ['Lesson', lesson] : ['Fix', fix];
      return told === undefined ? title : `${title}. ${label}: ${told}`;
    });
    return { decisions: (await of('decisions')).map(({ text }) => text), failures };
  } catch (error) {
    if (!(error instanceof BmadError) || error.code === 'cancelled') throw error;
    context.log.info(`no memories for the brief: ${error.message}`);
    return { decisions: [], failures: [] };
  }
}
