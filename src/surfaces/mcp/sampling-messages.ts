import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  CreateMessageResultWithTools,
} from '@modelcontextprotocol/server';
import { present } from '../../base/present.ts';
import type { Sampled, SampledText, SampleRequest } from '../../operations/context.ts';

/** What is taken of an answer; what is longer is cut. */
export const TEXT_LENGTH = 200_000;
export const MODEL_LENGTH = 200;
/** How long a client may think unless the request says otherwise. */
export const DEFAULT_MS = 60_000;

/** An answer, and whether there is none because the client did not give one. */
export type ClientAnswer = Sampled & { silent?: true };

export function paramsOf({ system, prompt, maxTokens, optional }: SampleRequest): CreateMessageRequestParams {
  return {
    messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
    ...(system === undefined ? {} : { systemPrompt: system }),
    maxTokens,
    // A small model does for what can be done without.
    ...(optional === true ? { modelPreferences: { speedPriority: 1, costPriority: 1 } } : {}),
  };
}

/** The text of an answer. One with a picture or a sound in it is none. */
export function textIn({
  content,
  stopReason,
  model,
}: CreateMessageResult | CreateMessageResultWithTools): ClientAnswer {
  const parts = [content].flat() as ({ type?: unknown; text?: unknown } | undefined)[];
  const texts = parts.flatMap((part) =>
    part?.type === 'text' && typeof part.text === 'string' ? [part.text] : [],
  );
  if (texts.length === 0 || texts.length < parts.length) return { why: 'the client’s answer is not text' };
  const text = texts.join('\n\n');
  return present<SampledText>({
    text: text.slice(0, TEXT_LENGTH),
    cutShort: stopReason === 'maxTokens' || text.length > TEXT_LENGTH ? true : undefined,
    model: typeof model === 'string' ? model.slice(0, MODEL_LENGTH) : undefined,
  });
}
