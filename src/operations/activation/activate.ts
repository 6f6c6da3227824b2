import { doersIn } from '../catalogue/agent-names.ts';
import * as z from 'zod';
import { BmadError, ours } from '../../base/errors.ts';
import { contentUri } from '../../base/files/paths.ts';
import { present } from '../../base/values.ts';
import { saying } from '../../base/step.ts';
import { problemText, qualifiedName } from '../../model/record.ts';
import { askedText, meantAgent, standIn } from '../catalogue/agent-names.ts';
import { workspaceFrom } from '../catalogue/read.ts';
import { restOf, shownNote, shownTextSchema, showText } from '../catalogue/shown-text.ts';
import { NAMED_KINDS } from '../catalogue/names.ts';
import type { Call, Context, Workspace } from '../context.ts';
import {
  cursorField,
  detailField,
  moduleField,
  originField,
  projectField,
  sectionField,
  stepSchema,
  textUpTo,
} from '../fields.ts';
import { textLimits } from '../host-limits.ts';
import { defineOperation, defineRoute, type Route } from '../operation.ts';
import { runIdField } from '../runs/run-view.ts';
import { namedForm, toolCall } from '../unified/forms.ts';
import { meantStart } from './start.ts';

/** An agent that is known and has no file is played as `delegate_to_agent` plays it. */
async function withoutFile(
  refused: unknown,
  input: {
    name: string;
    kind?: string | undefined;
    message?: string | undefined;
  },
  workspace: Workspace,
  context: Context,
  call: Call,
) {
  const { name, kind = 'agent', message } = input;
  if (kind !== 'agent' || !(refused instanceof BmadError) || refused.code !== 'not_found') return undefined;
  // One that was here and was deleted is not played by another: the file can be restored.
  if (refused.reason === 'file') return undefined;
  const meant = await meantAgent(name, workspace, context).catch(ours(() => undefined));
  // One with a file is in a built-in module, and is started by its file.
  if (meant === undefined || meant.found !== undefined) return undefined;
  // What is open is told under the head, with the call that closes it.
  const { colleague } = meant;
  const agent = standIn(
    colleague === undefined ? meant : { ...meant, colleague: { ...colleague, requests: [] } },
  );
  const { handle, note = '' } = agent;
  const title = agent.title === '' ? agent.name : `${agent.name}, ${agent.title}`;
  const persona = (await context.delegation()).persona(agent);
  const { head, body, room } = await workspace.delivery.unwritten({ handle, title, note, persona }, message);
  const open = await askedText([handle], workspace, { context, say: saying(call.say) }, room);
  const text = [head, open, body].filter(Boolean).join('\n\n');
  const shown = showText(text, { detail: 'full', maxBytes: context.config.answerBytes });
  return { name: handle, kind: 'agent', title, problems: [], context: {}, ...shown };
}

/** The operation users know as `execute`. It delivers; the model does the work. */
export const activate = defineOperation({
  name: 'execute',
  title: 'Start an agent or a workflow',
  description: 'Everything a model needs to become an agent or run a workflow, in one answer.',
  effect: 'read',
  behind: { bmad: 'execute' },
  fromForm: namedForm('execute', 'name'),
  command: 'execute',
  picks: { name: 'work' },
  positional: ['name', 'message'],
  sentence: true,
  examples: ['execute architect "Review our caching plan"', 'execute prd', 'execute "*party-mode"'],
  // As the unified tool calls them.
  synonyms: { agent: 'name', workflow: 'name' },
  input: z.strictObject({
    name: textUpTo(5_000).describe('Name, e.g. "architect", "bmm/prd", "*party-mode"'),
    message: textUpTo(200_000).optional().describe('What the user wants from it'),
    kind: z.enum(NAMED_KINDS).optional().describe('Agent or workflow, if the name could be either'),
    module: moduleField,
    origin: originField,
    run_id: runIdField.optional().describe('Exact id of an open run to continue'),
    section: sectionField,
    cursor: cursorField,
    detail: detailField,
    project: projectField,
  }),
  output: z.object({
    name: z.string(),
    kind: z.string(),
    title: z.string(),
    problems: z.array(z.string()),
    /** Roots, placeholders, module and origin, for programs; the text says the same to a model. */
    context: z.record(z.string(), z.unknown()),
    /** What the message starts, where it is an entry of the agent's menu; its text follows that of the agent. */
    starts: z.object({ name: z.string(), kind: z.enum(['agent', 'workflow']) }).optional(),
    /** The next part of what it starts, and the call for what was left out. */
    steps: z.array(stepSchema).optional(),
    ...shownTextSchema.shape,
  }),

  async run(input, context, call) {
    const { name, kind, module, origin, section, cursor, detail } = input;
    const resumed = input.run_id === undefined ? undefined : await import('../runs/run-standing.ts');
    const run = await resumed?.namedRun(input.run_id ?? '', context);
    const workspace = workspaceFrom(await context.workspace(), origin);
    const wanted = { name, kind, module, fuzzy: false };
    const asked = { operation: 'execute' as const, call, words: input.message };
    const meant = await meantStart(wanted, workspace, context, asked).catch(async (error: unknown) => {
      const agent = run === undefined ? await withoutFile(error, input, workspace, context, call) : undefined;
      if (agent !== undefined) return agent;
      throw run === undefined ? error : (resumed?.withoutWorkflow(error, run) ?? error);
    });
    if ('text' in meant) return meant;
    const { record, message, told, with: beside } = meant;
    const activation = await workspace.delivery.activation(
      record,
      message,
      context.project,
      saying(call.say),
    );
    const { lead } = activation;
    const own = qualifiedName(activation.record);
    const kept =
      run === undefined
        ? undefined
        : resumed?.runSection(run, activation.record, workspace, call.say ?? toolCall);
    const begun =
      run === undefined || lead === undefined ? undefined : resumed?.underWay(run, call.say ?? toolCall);
    const start = begun === undefined ? activation.head : activation.head.replace(lead ?? '', () => begun);
    const first = cursor === undefined && section === undefined;
    const about = {
      name: own,
      kind: activation.record.kind,
      title: activation.title,
      problems: activation.problems.map(problemText),
      context: { ...activation.context },
    };
    // Nobody waits for it, and a start is one whether or not it can be noted. What is noted moves the lists of
    // everybody, so those who may not write leave nothing.
    const noted = <T extends { tokens: number }>(shown: T): T => {
      if (first && detail !== 'brief' && call.mayWrite !== false)
        context.usage().then(
          (usage) => usage.note(activation.record, shown.tokens),
          () => undefined,
        );
      return shown;
    };
    const started = { activation, workspace, context, call, limits: textLimits(context, call) };
    const along = beside && contentUri(beside.bmadRelativePath);
    const details = { message, section, cursor, detail, along };
    const before = [told, start, kept];
    if (activation.record.kind === 'agent') {
      const { agentText, openFor } = await import('./agent-start.ts');
      const open = first ? await openFor(started, record) : undefined;
      before[1] = [start, open].filter(Boolean).join('\n\n');
      return { ...about, ...noted(await agentText(started, details, before)) };
    }
    const agents = first ? (await doersIn(workspace))(activation.record) : [];
    before[1] = [start, agents.length > 0 && `In the menu of ${agents.join(', ')}.`]
      .filter(Boolean)
      .join('\n\n');
    const { workText } = await import('./work-start.ts');
    return { ...about, ...noted(await workText(started, details, before)) };
  },

  render: (data) => ({
    body: data.text,
    ...(data.problems.length === 0 ? { instructs: true } : {}),
    ...present({ note: shownNote(data), steps: data.steps }),
    again: data.starts === undefined ? restOf(data) : undefined,
  }),
});

/** What goes through to the operation that starts things. */
const passed = { section: sectionField, cursor: cursorField, detail: detailField, project: projectField };

const paramsField = z
  .record(z.string(), z.unknown(), { error: 'Expected an object such as {"topic": "caching"}.' })
  .optional();

const openRunField = z.string().optional().describe('Open run to continue');

/** Seed names of `execute`: each turns its arguments into those of the one operation that starts things. */
export const executeWorkflow = defineRoute({
  name: 'execute_workflow',
  title: 'Start a workflow',
  description:
    'Start a BMAD workflow: returns its instructions, configuration and files; then follow them. Long answers come in parts: repeat the call with the cursor they give.',
  effect: 'read',
  toolset: 'workflows',
  input: z.strictObject({
    workflow_name: z.string().describe('e.g. prd, bmm/prd'),
    params: paramsField.describe('Values for the workflow, by name'),
    run_id: openRunField,
    module: moduleField,
    ...passed,
  }),
  output: activate.output,
  route: ({ workflow_name: name, params, ...rest }) =>
    starting(
      { name, kind: 'workflow', message: inWords(params), ...rest },
      { name: 'workflow_name', message: 'params' },
    ),
});

export const executeTask = defineRoute({
  name: 'execute_task',
  title: 'Start a task',
  description: 'Start a BMAD task, tool or plain skill: returns its instructions; then follow them.',
  effect: 'read',
  toolset: 'workflows',
  input: z.strictObject({
    task_name: z.string().describe('e.g. index-docs'),
    params: paramsField.describe('Values for the task, by name'),
    module: moduleField,
    ...passed,
  }),
  output: activate.output,
  route: ({ task_name: name, params, ...rest }) =>
    starting(
      { name, kind: 'task', message: inWords(params), ...rest },
      { name: 'task_name', message: 'params' },
    ),
});

export const bmadWorkflow = defineRoute({
  name: 'bmad-workflow',
  title: 'Start a BMAD workflow',
  description:
    'Execute BMAD workflows like prd, architecture, brainstorming: returns everything needed; then follow it. Long answers come in parts: repeat the call with the cursor they give.',
  effect: 'read',
  toolset: 'agents',
  input: z.strictObject({
    workflow: z.string().describe('Workflow name (with or without the * prefix)'),
    context: z.string().optional().describe('Context or parameters for the workflow'),
    run_id: openRunField,
    ...passed,
  }),
  output: activate.output,
  route: ({ workflow: name, context: message, ...rest }) =>
    starting({ name, kind: 'workflow', message, ...rest }, { name: 'workflow', message: 'context' }),
});

/** Parameters as the user's message: one line each. */
function inWords(params: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const lines = Object.entries(params ?? {}).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return lines.length === 0 ? undefined : lines.join('\n');
}

function starting(args: Record<string, unknown>, spoken: Readonly<Record<string, string>>): Route {
  return { to: activate.name, args: present(args), spoken };
}
