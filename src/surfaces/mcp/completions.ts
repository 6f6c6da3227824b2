import type { CompleteResult } from '@modelcontextprotocol/server';
import type { Call, Context } from '../../operations/context.ts';
import type { PromptItem } from '../../operations/client/prompts.ts';
import { ask } from './ask.ts';
import { dataOf } from './errors.ts';
import type { CompleteParams } from './params.ts';
import { MESSAGE_ARGUMENT } from './prompts.ts';
import { TEMPLATES } from './resource-templates.ts';

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
