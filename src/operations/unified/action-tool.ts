import * as z from 'zod';
import { textUpTo } from '../fields.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { nearest } from '../../base/text/suggest.ts';
import { OFFERED } from '../offered.ts';
import { operationBehind, namedOperation, wordsBehind } from '../offers.ts';
import { type Answer, type AnyOperation, defineOperation, type Route } from '../operation.ts';
import type { UnifiedTool } from '../toolsets.ts';

/** The action that explains the others: their schemas cost nothing until a model asks for them. */
export const HELP = 'help';

interface Input {
  action: string;
  args: Record<string, unknown>;
}

/** What tools with actions have in common: each action is an operation that says it is behind the tool. */
export function actionTool(tool: UnifiedTool, { briefly }: { briefly: boolean }) {
  const actions = wordsBehind(tool);
  /** People and models also say the name of the operation, or the words of its command: `contract_verify`. */
  const spellings = new Map(
    actions.flatMap((action) => {
      const name = operationBehind(tool, action);
      const command = OFFERED[name]?.command?.replaceAll(/[ -]/g, '_');
      return [action, name, command ?? action].map((spelling) => [spelling, action] as const);
    }),
  );

  function known(asked: string, args: Record<string, unknown> = {}): string {
    const action = spellings.get(asked);
    if (action !== undefined) return action;
    if (OFFERED[asked]?.toolset !== undefined)
      throw new BmadError('invalid_input', `${tool}: ${quoted(asked)} is a tool, not an action.`, {
        subject: asked,
        ...(Object.keys(args).length === 0
          ? { hint: 'Call it by its own name.' }
          : { steps: [{ operation: asked, args, why: 'Call the tool' }] }),
      });
    const { command, behind, positional = [] } = OFFERED[asked] ?? {};
    if (command !== undefined && behind === undefined)
      throw new BmadError('forbidden', `${tool}: ${quoted(asked)} is for a person to do.`, {
        subject: asked,
        steps: [
          {
            operation: asked,
            args,
            open: positional.filter((name) => !(name in args)),
            why: 'Ask the user to do it',
          },
        ],
      });
    throw new BmadError('invalid_input', `${tool}: there is no action ${quoted(asked)}.`, {
      subject: 'action',
      suggestions: nearest(asked, [...spellings.keys()]),
      hint: `Actions: ${HELP}, ${actions.join(', ')}.`,
    });
  }

  return {
    actions,
    route: ({ action, args }: Input): Route | undefined =>
      action === HELP
        ? undefined
        : {
            to: operationBehind(tool, known(action, args)),
            args: withoutEmpty(args),
            within: { action: known(action) },
          },
    async run({ args: { action: asked } }: Input) {
      const load = (action: string) => namedOperation(operationBehind(tool, action));
      if (typeof asked === 'string')
        return { action: HELP, result: { text: argumentsOf(await load(known(asked)), known(asked)) } };
      const behind = await Promise.all(actions.map(async (action) => [action, await load(action)] as const));
      const text = behind
        .map(([action, operation]) =>
          briefly
            ? `- ${action}${namesOf(operation)}: ${operation.description}`
            : argumentsOf(operation, action),
        )
        .join(briefly ? '\n' : '\n\n');
      return { action: HELP, result: { text } };
    },
    render: ({ result }: { result: Record<string, unknown> }): Answer => ({ body: String(result['text']) }),
  };
}

/** Many models fill in every argument they know of; an empty one was not given. */
function withoutEmpty(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(args).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  );
}

/** What an action takes, told when a model asks for it: the tools that have actions do not advertise it. */
function argumentsOf(operation: AnyOperation, name = operation.name): string {
  const { properties = {}, required = [] } = z.toJSONSchema(operation.input, { io: 'input' });
  const lines = Object.entries(properties).map(([field, schema]) => {
    const needed = required.includes(field) ? 'required' : 'optional';
    return `- ${field} (${typeOf(schema)}, ${needed})${textOf(schema)}`;
  });
  return [`${name}: ${operation.description}`, ...lines].join('\n');
}

/** The names alone, for a list of actions, without those that are the same everywhere. */
function namesOf({ input }: AnyOperation): string {
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input' });
  const names = Object.keys(properties).filter((name) => !/^(?:project|limit|cursor)$/.test(name));
  return names.length === 0
    ? ''
    : ` {${names.map((name) => (required.includes(name) ? name : `${name}?`)).join(', ')}}`;
}

type Schema = z.core.JSONSchema._JSONSchema;

function typeOf(schema: Schema): string {
  if (typeof schema === 'boolean') return 'anything';
  if (schema.enum !== undefined) return schema.enum.join(' | ');
  const items = Array.isArray(schema.items) ? undefined : schema.items;
  return items === undefined ? String(schema.type ?? 'anything') : `list of ${typeOf(items)}`;
}

function textOf(schema: Schema): string {
  return typeof schema === 'boolean' || schema.description === undefined ? '' : `: ${schema.description}`;
}

const { route, run, render } = actionTool('manage_project', { briefly: true });

/** One tool for what goes with the tools of the project and is needed less often. */
export const manageProject = defineOperation({
  name: 'manage_project',
  title: 'Manage the project state',
  description:
    'Everything else about the project’s state: claim and complete tasks, open and resume runs, log decisions, learnings and failures, hand work over (log_handoff), save a session. "help" lists the actions; with args {action} the arguments of one.',
  effect: 'write',
  toolset: 'project',
  gathers: 'args',
  synonyms: { arguments: 'args', params: 'args' },
  input: z.strictObject({
    action: textUpTo(100).describe('help, task_claim, run_checkpoint, log_decision, …'),
    args: z.record(z.string(), z.unknown()).default({}).describe('Arguments of the action'),
  }),
  output: z.object({ action: z.string(), result: z.record(z.string(), z.unknown()) }),
  route,
  run,
  render,
});
