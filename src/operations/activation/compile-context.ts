import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { qualifiedName, type BmadRecord } from '../../model/record.ts';
import { moduleField, projectField, textUpTo } from '../fields.ts';
import { namedForm } from '../unified/forms.ts';
import { defineOperation } from '../operation.ts';
import { runIdField } from '../runs/run-view.ts';
import { runText } from '../runs/run-text.ts';
import { NAMED_KINDS, startOf } from '../catalogue/names.ts';
import { meantStart } from './start.ts';

const DEFAULT_BUDGET = 8_000;
/** Below this there is no room for a sentence. */
const LEAST_BUDGET = 100;
/** Hosts cut or refuse what is longer. */
const MOST_BUDGET = 100_000;
/** Room for the note under the text. */
const NOTE = 60;

const place = { title: z.string(), source: z.string().optional() };

export const compileContext = defineOperation({
  name: 'compile_context',
  title: 'Context for an agent or a workflow',
  description:
    'Everything an agent or workflow needs, within a token budget: its text and values, the current story, the relevant parts of the plans, decisions and failures; and what was left out.',
  effect: 'read',
  behind: { bmad: 'context' },
  fromForm: namedForm('context', 'name'),
  command: 'context',
  picks: { name: 'work' },
  positional: ['name', 'message'],
  examples: ['context architect --budget 8000', 'context prd "a shop for used books" --budget 4000'],
  input: z.strictObject({
    name: textUpTo(5_000).describe('Name, e.g. "architect" or "bmm/prd"'),
    message: textUpTo(200_000).optional().describe('What it should be about'),
    budget: z
      .int()
      .min(0)
      .max(1_000_000_000)
      .default(DEFAULT_BUDGET)
      .describe(`Maximum tokens (${DEFAULT_BUDGET})`),
    kind: z.enum(NAMED_KINDS).optional().describe('Agent or workflow, if the name could be either'),
    run_id: runIdField.optional().describe('Exact id of a run that it is for'),
    module: moduleField,
    project: projectField,
  }),
  output: z.object({
    name: z.string(),
    kind: z.string(),
    budget: z.int(),
    capped: z.boolean(),
    text: z.string(),
    tokens: z.int(),
    /** Whether all that is required is in it, and how many tokens bring that with the plans and memories of the project. */
    complete: z.boolean(),
    needed: z.int(),
    included: z.array(z.object({ ...place, tokens: z.int(), isWhole: z.boolean() })),
    leftOut: z.array(z.object({ ...place, why: z.string() })),
  }),

  async run({ name, message: words, budget, kind, run_id: id, module }, context, call) {
    const { namedRun } = await import('../runs/run-standing.ts');
    const run = id === undefined ? undefined : await namedRun(id, context);
    const workspace = await context.workspace();
    const asked = { operation: 'compile_context' as const, call, words };
    const wanted = { name, kind, module, fuzzy: false };
    const { record: found, message } = await meantStart(wanted, workspace, context, asked);
    const within = Math.min(budget, MOST_BUDGET);
    const more = run === undefined ? undefined : `## Run\n\n${runText(run)}`;
    const about = { message, more, budget: Math.max(0, within - NOTE) };
    // What gathers and packs it is loaded when a context is asked for.
    const { contextWithin } = await import('./context.ts');
    const { isComplete: complete, ...result } = await contextWithin(found, about, call, workspace, context);
    const needed = result.needed + NOTE;
    if (budget < LEAST_BUDGET) throw tooSmall(budget, found, needed);
    return {
      name: qualifiedName(found),
      kind: found.kind,
      budget: within,
      capped: within < budget,
      ...result,
      complete,
      needed,
    };
  },

  render({ text, budget, capped, complete, needed, leftOut }) {
    const most = capped ? ` The budget was lowered to ${budget}, the maximum.` : '';
    // Before all else: what follows reads as if it could be started from.
    const first = complete
      ? ''
      : 'INCOMPLETE: the text to follow is not whole here. Do not start from it.\n\n';
    const left =
      leftOut.length === 0 ? 'Nothing was left out.' : '"Left out" names what is not here, and where it is.';
    return {
      body: `${first}${text}`,
      note: `${left}${most}`,
      again: complete ? undefined : { args: { budget: needed }, why: 'Ask for all of it' },
    };
  },
  failed: ({ complete }) => !complete,
});

function tooSmall(budget: number, record: BmadRecord, needed: number): BmadError {
  return new BmadError('invalid_input', `A budget of ${budget} tokens is too small for any context.`, {
    subject: 'budget',
    hint: `${qualifiedName(record)} needs about ${needed} tokens.`,
    steps: [
      {
        operation: 'compile_context',
        args: { ...startOf(record), budget: needed },
        why: 'Ask for all of it',
      },
    ],
  });
}
