import * as z from 'zod';
import { activate } from './activate.ts';
import { present } from '../../base/present.ts';
import { cursorField, detailField, moduleField, projectField, sectionField } from '../fields.ts';
import { defineRoute, type Route } from '../operation.ts';

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
