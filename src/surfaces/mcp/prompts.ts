import type { CompleteResult, GetPromptResult, ListPromptsResult } from '@modelcontextprotocol/server';
import { stepLines } from '../../base/step.ts';
import type { PromptItem } from '../../operations/client/prompts.ts';
import type { Call, Context } from '../../operations/context.ts';
import { waysOf } from './host-ways.ts';
import { type CompleteParams, dataOf, protocolError } from './requests.ts';
import { TEMPLATES } from './resource-templates.ts';
import { ask, stepWriter } from './steps.ts';

/** Every prompt takes one free text, and works without it. */
export const MESSAGE_ARGUMENT = 'message';

const WHOLE_MESSAGE =
  'If <command-args> of this turn has more words, that text is the user’s whole message: the host has passed on only the first of them. Take it as the message wherever one is meant below.';

export async function promptList(
  cursor: string | undefined,
  context: Context,
  call: Call,
  host: string | undefined,
): Promise<ListPromptsResult> {
  const { items, next } = dataOf<{ items: PromptItem[]; next?: string }>(
    await ask('list_prompts', { cursor, host }, context, call),
  );
  return {
    prompts: items.map(({ name, title, description, kind }) => ({
      name,
      title,
      description,
      arguments: [
        {
          name: MESSAGE_ARGUMENT,
          description: `What you want from this ${kind}`,
          required: waysOf(host).dropsOptional === true,
        },
      ],
    })),
    ...(next === undefined ? {} : { nextCursor: next }),
  };
}

export async function getPrompt(
  name: string,
  args: Readonly<Record<string, string>>,
  context: Context,
  call: Call,
): Promise<GetPromptResult> {
  const prompt = dataOf<PromptItem>(await ask('find_prompt', { name }, context, call));
  const message = args[MESSAGE_ARGUMENT];
  const input = {
    name: prompt.target,
    kind: prompt.kind,
    // A host cannot ask for a next part of a prompt, so it comes whole.
    detail: 'full',
    ...(message === undefined || message === '' ? {} : { message }),
  };
  const outcome = await ask('execute', input, context, call);
  if (!outcome.ok) throw protocolError(outcome.error);
  const { body, note, steps = [] } = outcome.answer;
  const isFirstWord = waysOf(call.host).splitsPrompts === true && /^\S+$/.test(message ?? '');
  const text = [
    isFirstWord ? WHOLE_MESSAGE : '',
    body,
    note,
    stepLines(steps, await stepWriter(context)).join('\n'),
  ]
    .filter(Boolean)
    .join('\n\n');
  return {
    description: prompt.title,
    messages: [{ role: 'user', content: { type: 'text', text } }],
  };
}

const NONE: CompleteResult = { completion: { values: [], total: 0, hasMore: false } };

/** Completes the given argument; an unknown argument has no completions, which is not an error. */
export async function completeArgument(
  { ref, argument }: CompleteParams,
  context: Context,
  call: Call,
): Promise<CompleteResult> {
  const query =
    ref.type === 'ref/prompt'
      ? await promptQuery(ref.name, argument, context, call)
      : templateQuery(ref.uri, argument);
  if (query === undefined) return NONE;
  const { values, total } = dataOf<{ values: string[]; total: number }>(
    await ask('complete', { ...query, value: argument.value }, context, call),
  );
  return { completion: { values, total, hasMore: total > values.length } };
}

type Argument = CompleteParams['argument'];

async function promptQuery(
  name: string,
  argument: Argument,
  context: Context,
  call: Call,
): Promise<{ what: string; target: string } | undefined> {
  const prompt = dataOf<PromptItem>(await ask('find_prompt', { name }, context, call));
  return argument.name === MESSAGE_ARGUMENT && prompt.kind === 'agent'
    ? { what: 'message', target: prompt.target }
    : undefined;
}

function templateQuery(uri: string, argument: Argument): { what: string } | undefined {
  const template = TEMPLATES.find((candidate) => candidate.uriTemplate === uri);
  const known: string[] = template?.uriTemplate.match(/(?<=\{\+?)\w+(?=\})/g) ?? [];
  return known.includes(argument.name) ? { what: argument.name } : undefined;
}
