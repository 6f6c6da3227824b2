import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { nearest } from '../../base/text/suggest.ts';
import { activate } from '../activation/activate.ts';
import { compileContext } from '../activation/compile-context.ts';
import { doctor } from '../server/doctor.ts';
import { explain } from '../catalogue/explain.ts';
import { handOver } from '../execute.ts';
import { DETAILS } from '../fields.ts';
import { list, LISTABLE } from '../catalogue/list.ts';
import { defineOperation, type AnyOperation } from '../operation.ts';
import { next } from '../project/next.ts';
import { read } from '../catalogue/read.ts';
import { refresh } from '../server/refresh.ts';
import { search } from '../catalogue/search.ts';

const ROUTES: Record<string, AnyOperation> = {
  list,
  read,
  execute: activate,
  context: compileContext,
  search,
  next,
  explain,
  doctor,
  refresh,
};
const OPERATIONS = [
  'list',
  'read',
  'execute',
  'context',
  'search',
  'next',
  'explain',
  'doctor',
  'refresh',
] as const;

const FORMS = `Forms: {operation:"list", query:"agents"}; {operation:"search", query:"user research"}; {operation:"read", agent:"analyst"}; {operation:"read", uri:"bmad://bmm/config.yaml"}; {operation:"execute", agent:"architect", message:"…"}; {operation:"execute", workflow:"prd"}; {operation:"context", agent:"dev"}; {operation:"next"}; {command:"*party-mode"}.`;

/** Long enough for any name, path or command; a message has a limit of its own. */
const text = (): z.ZodString => z.string().max(20_000);

/** The one tool that carries the whole product; it hands over to the operations above and adds nothing of its own. */
export const bmad = defineOperation({
  name: 'bmad',
  title: 'BMAD agents and workflows',
  description:
    'BMad Method: agents (architect, pm, analyst, dev, ux-designer), workflows (prd, architecture, build, …) and their files. execute returns all you need to act as the agent or run the workflow; then follow it. context adds story, plans and decisions, in budget tokens. next says how far the project is and what to do. list, search and read look things up. Long answers come in parts: pass the cursor they give.',
  effect: 'read',
  toolset: 'bmad',
  needsOneOf: ['operation', 'command', 'agent', 'workflow', 'uri'],
  input: z.strictObject({
    operation: z.enum(OPERATIONS).optional(),
    query: z
      .string()
      .optional()
      .describe('list: agents, workflows, tasks, skills, knowledge, modules, resources, … search: words'),
    agent: text().optional().describe('e.g. architect, bmm/architect, Winston'),
    workflow: text().optional().describe('e.g. prd, *party-mode'),
    message: z.string().max(200_000).optional().describe('execute: what the user wants'),
    run_id: text().optional().describe('execute: open run to go on with'),
    uri: text().optional().describe('read: bmad:// URI or path'),
    command: text().optional().describe('Short form, e.g. "bmm/architect" or "*party-mode"'),
    type: text().optional().describe('agent, workflow or resource, if not plain from the rest'),
    module: text().optional().describe('e.g. bmm'),
    category: text().optional().describe('Phase, e.g. plan'),
    origin: text().optional().describe('search: project, package, …'),
    pattern: text().optional().describe('list resources: glob'),
    section: text().optional().describe('Only this heading'),
    cursor: text().optional(),
    limit: z.int().min(1).max(200).optional(),
    budget: z.int().min(0).max(1e9).optional().describe('context: tokens'),
    detail: z.enum(DETAILS).optional(),
    project: text().optional().describe('Project folder'),
  }),
  output: z.object({ operation: z.enum(OPERATIONS), result: z.record(z.string(), z.unknown()) }),

  async run(input, context, call) {
    const { operation, args, spoken } = route(input);
    const result = await handOver(ROUTES[operation] as AnyOperation, args, spoken, context, call);
    return { operation, result };
  },
  render: ({ operation, result }) => (ROUTES[operation] as AnyOperation).render(result),
  answeredBy: ({ operation }) => ROUTES[operation] as AnyOperation,
  failed: ({ operation, result }) => ROUTES[operation]?.failed?.(result) ?? false,
});

type Arguments = Partial<Record<string, unknown>> & {
  operation?: (typeof OPERATIONS)[number] | undefined;
  query?: string | undefined;
  agent?: string | undefined;
  workflow?: string | undefined;
  message?: string | undefined;
  uri?: string | undefined;
  command?: string | undefined;
  type?: string | undefined;
};

interface Route {
  operation: (typeof OPERATIONS)[number];
  args: Record<string, unknown>;
  /** What the caller called an argument, where the operation has another name for it. */
  spoken: Record<string, string>;
}

/** Turns the forms users know into one operation and its own arguments. */
function route(input: Arguments): Route {
  if (input.command !== undefined) return fromCommand(input.command, input);
  const operation = input.operation ?? impliedOperation(input);
  const { operation: _operation, ...args } = input;
  switch (operation) {
    case 'list':
      return { operation, args: listArguments(args), spoken: { what: 'type' } };
    case 'search':
      return {
        operation,
        args: defined({ ...args, type: args.type === undefined ? undefined : pluralType(args.type) }),
        spoken: {},
      };
    case 'doctor':
      return { operation, args: { ...args, handshake: false }, spoken: {} };
    case 'next':
    case 'refresh':
      return { operation, args: defined(args), spoken: {} };
    case 'read':
    case 'explain':
    case 'execute':
    case 'context':
      return namedRoute(operation, args);
  }
}

function impliedOperation({ uri, agent, workflow }: Arguments): Route['operation'] {
  if (uri !== undefined) return 'read';
  if (agent !== undefined || workflow !== undefined) return 'execute';
  throw new BmadError('invalid_input', 'bmad: "operation" is missing.', { hint: FORMS });
}

function listArguments({ query, type, ...rest }: Arguments): Record<string, unknown> {
  const named = [type, query].find((word) => word !== undefined);
  if (named === undefined) return defined(rest);
  const what = pluralType(named);
  if (!(LISTABLE as readonly string[]).includes(what)) {
    throw new BmadError('invalid_input', `bmad: ${quoted(named)} is not something that can be listed.`, {
      suggestions: nearest(what, LISTABLE),
      hint: `Lists: ${LISTABLE.join(', ')}. To find something by words: {operation:"search", query:"…"}.`,
    });
  }
  const words = type === undefined || query === undefined || pluralType(query) === what ? undefined : query;
  return defined({ ...rest, what, query: words });
}

function namedRoute(
  operation: 'read' | 'explain' | 'execute' | 'context',
  { agent, workflow, uri, query, type, ...rest }: Arguments,
): Route {
  const starts = operation === 'execute' || operation === 'context';
  const named: [string, string | undefined][] = [
    ['agent', agent],
    ['workflow', workflow],
    ...(!starts ? ([['resource', uri]] as [string, string | undefined][]) : []),
  ];
  const given = named.filter(([, value]) => value !== undefined);
  const [first] = given;
  if (given.length > 1) {
    throw new BmadError(
      'invalid_input',
      `bmad: give one of ${given.map(([key]) => `"${key === 'resource' ? 'uri' : key}"`).join(' and ')}, not both.`,
      { hint: FORMS },
    );
  }
  const said = singularType(type);
  if (first !== undefined && said !== undefined && said !== first[0]) {
    throw new BmadError(
      'invalid_input',
      `bmad: "type" says ${quoted(type ?? '')}, but ${first[0] === 'resource' ? 'a "uri"' : `an "${first[0]}"`} is given.`,
      { hint: FORMS },
    );
  }
  const kind = first?.[0] ?? said;
  const target = first?.[1] ?? query;
  if (target === undefined)
    throw new BmadError(
      'invalid_input',
      `bmad: ${operation} needs ${starts ? '"agent" or "workflow"' : '"agent", "workflow" or "uri"'}.`,
      { hint: FORMS },
    );
  const key = first === undefined ? 'query' : first[0] === 'resource' ? 'uri' : first[0];
  return starts
    ? { operation, args: defined({ ...rest, uri, name: target, kind }), spoken: { name: key, kind: 'type' } }
    : { operation, args: defined({ ...rest, target, kind }), spoken: { target: key, kind: 'type' } };
}

/** `bmm/architect`, `*party-mode`, `architect review this`, `list agents`: the first word may be an operation. */
function fromCommand(command: string, { command: _command, ...rest }: Arguments): Route {
  if (rest.operation !== undefined && rest.operation !== 'execute') {
    throw new BmadError(
      'invalid_input',
      `bmad: "command" is a short form of its own; it does not go with operation "${rest.operation}".`,
      { hint: FORMS },
    );
  }
  // Users type the slash of their host, the name of the program, or the operation, out of habit.
  const words = command
    .trim()
    .replace(/^\/+|^bmad\s+(?=\S)/i, '')
    .replace(/^execute\s+(?=\S)/i, '');
  const first = /^\S*/.exec(words)?.[0] ?? '';
  const tail = words.slice(first.length).trim();
  if (first === '') throw new BmadError('invalid_input', 'bmad: the command is empty.', { hint: FORMS });
  if (Object.hasOwn(ROUTES, first) && first !== 'execute') {
    return route({
      ...rest,
      operation: first as Route['operation'],
      ...(tail === '' ? {} : { query: tail }),
    });
  }
  const message = rest.message ?? (tail === '' ? undefined : tail);
  const { operation: _operation, type, ...args } = rest;
  return {
    operation: 'execute',
    args: defined({ ...args, name: first, message, kind: singularType(type) }),
    spoken: { name: 'command', kind: 'type' },
  };
}

/** Callers say `agent` or `agents`, `file` or `resource`. */
function pluralType(word: string): string {
  const name = word.trim().toLowerCase();
  if (['file', 'files', 'uri', 'document', 'documents'].includes(name)) return 'resources';
  return name === 'all' || name === 'knowledge' || name.endsWith('s') ? name : `${name}s`;
}

function singularType(word: string | undefined): string | undefined {
  return word === undefined ? undefined : pluralType(word).replace(/s$/, '');
}

function defined(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
}
