import * as z from 'zod';
import { present } from '../../base/values.ts';
import { DETAILS } from '../fields.ts';
import { operationBehind, wordsBehind } from '../offers.ts';
import { quoted } from '../../base/errors.ts';
import { defineRoute, type Route, type UnifiedForm } from '../operation.ts';
import { cursorUnknown, formError, singularType } from './forms.ts';

const WORDS = wordsBehind('bmad');

/** Long enough for any name, path or command; a message has a limit of its own. */
const text = (): z.ZodString => z.string().max(20_000);

/** The one tool that carries the whole product: it stands for the operations that say they are behind it. */
export const bmad = defineRoute({
  name: 'bmad',
  title: 'BMAD agents and workflows',
  description:
    'What should be done next in the project, and by whom? BMad Method agents (architect, pm, analyst, dev, ux-designer), workflows (prd, architecture, build, …) and their files. Use it to work with the architect (Winston), product manager (John), analyst (Mary), developer (Amelia) or UX designer (Sally), to brainstorm (party mode), to create a product brief, PRD, epics or stories, to plan a sprint, for a code review or retrospective, and to learn the next step. execute returns all you need to act as the agent or run the workflow; then follow it. context adds story, plans and decisions, in budget tokens. next says how far along the project is and what to do. list, read and the others look things up. Long answers come in parts: pass the cursor they give.',
  effect: 'read',
  toolset: 'bmad',
  needsOneOf: ['operation', 'command', 'agent', 'workflow', 'uri'],
  input: z.strictObject({
    operation: z.enum(WORDS).optional(),
    query: z
      .string()
      .optional()
      .describe('list: agents, workflows, tasks, skills, knowledge, modules, resources, … search: words'),
    agent: text().optional().describe('e.g. architect, bmm/architect, Winston'),
    workflow: text().optional().describe('e.g. prd, *party-mode'),
    message: z.string().max(200_000).optional().describe("execute, next: what's wanted"),
    run_id: text().optional().describe('execute: open run to continue'),
    uri: text().optional().describe('read: bmad:// URI or path'),
    command: text().optional().describe('Short form, e.g. "bmm/architect" or "*party-mode"'),
    type: text().optional().describe('agent, workflow or resource, if not clear from the rest'),
    module: text().optional().describe('e.g. bmm'),
    category: text().optional().describe('Phase, e.g. plan'),
    origin: text().optional().describe('project, package, git, …: only what this origin has'),
    version: text().optional().describe('list: e.g. 6.12.0'),
    pattern: text().optional().describe('list resources: glob'),
    section: text().optional().describe('Only this heading'),
    cursor: text().optional(),
    limit: z.int().min(1).max(200).optional(),
    budget: z.int().min(0).max(1e9).optional().describe('context: tokens'),
    detail: z.enum(DETAILS).optional(),
    project: text().optional().describe('Project folder'),
  }),
  output: z.object({ operation: z.enum(WORDS), result: z.record(z.string(), z.unknown()) }),

  route: ({ command, ...form }) => (command === undefined ? routeOf(form) : fromCommand(command, form)),
});

type Arguments = UnifiedForm & { operation?: string | undefined; message?: string | undefined };

function routeOf({ operation, ...form }: Arguments): Route {
  return routeTo(operation ?? impliedWord(form), present(form));
}

function routeTo(word: string, args: Record<string, unknown>): Route {
  return { to: operationBehind('bmad', word), args, form: true, within: { operation: word } };
}

function impliedWord({ uri, agent, workflow, ...rest }: Arguments): string {
  if (uri !== undefined) return 'read';
  if (agent !== undefined || workflow !== undefined || rest['run_id'] !== undefined) return 'execute';
  if (rest['cursor'] !== undefined) throw cursorUnknown();
  throw formError('"operation" is missing.');
}

/** As in the folders of an install, where names are not looked for. */
const KIND_BEFORE_NAME = /^\*?(?:agents?|workflows?|tasks?|skills?)\/(.+)$/i;

/** As the catalogues of 6.0 write commands: `bmad:cloud infrastructure:agent:architect`. */
const CATALOGUE_COMMAND = /^bmad:[^:]{1,100}:(?:agents?|workflows?|tasks?):([\w-]+)/i;

/** `bmm/architect`, `*party-mode`, `architect review this`, `list agents`: the first word may be an operation. */
function fromCommand(command: string, { operation, ...form }: Arguments): Route {
  if (operation !== undefined && operation !== 'execute')
    throw formError(`"command" is a short form and cannot be combined with operation "${operation}".`);
  const other = (['agent', 'workflow', 'uri', 'query'] as const).find((key) => form[key] !== undefined);
  if (other !== undefined)
    throw formError(`"command" is a short form and cannot be combined with "${other}".`);
  // Users type the slash of their host, the name of the program, or the operation, out of habit.
  const words = command
    .trim()
    .replace(/^\/+|^bmad\s+(?=\S)/i, '')
    .replace(/^execute\s+(?=\S)/i, '')
    .replace(CATALOGUE_COMMAND, '$1');
  const first = /^\S*/.exec(words)?.[0] ?? '';
  const tail = words.slice(first.length).trim();
  if (first === '') throw formError('the command is empty.');
  if (/^bmad$/i.test(words)) throw formError('the command names the tool itself, and nothing to do with it.');
  const named = KIND_BEFORE_NAME.exec(first)?.[1];
  if (named !== undefined)
    throw formError(`${quoted(first)} begins with a kind, but only a module may come first.`, [named]);
  if (first !== 'execute' && WORDS.includes(first))
    return routeOf({ ...form, operation: first, ...(tail === '' ? {} : { query: tail }) });
  const { type, message = tail === '' ? undefined : tail, ...rest } = form;
  return {
    ...routeTo('execute', present({ ...rest, query: first, message, type: singularType(type) })),
    spoken: { name: 'command' },
  };
}
