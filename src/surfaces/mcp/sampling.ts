import { createHash } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  inputRequired,
  inputResponse,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type CreateMessageResultWithTools,
  type InputRequiredResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import type { Call, SampleRequest, Sampled, SampledText } from '../../operations/context.ts';

/** What is remembered of a client between its calls. */
export interface Conversation {
  /** Answers to optional questions, by question. */
  answers: Map<string, Sampled>;
  /** Optional questions a client of the 2026 protocol was asked and has not come back with. */
  open: Set<string>;
  /** The same for the others: whoever puts the call again without an answer is not asked a second time in a row. */
  left: Map<string, true>;
  /** The client has left a question without an answer, so it is not bothered with optional ones any more. */
  silent: boolean;
}

export const newConversation = (): Conversation => ({
  answers: new Map(),
  open: new Set(),
  left: new Map(),
  silent: false,
});

const ANSWERS_KEPT = 200;
const CONVERSATIONS_KEPT = 100;
const DEFAULT_MS = 60_000;
const TEXT_LENGTH = 200_000;
const MODEL_LENGTH = 200;
/** Questions of one call; a call that asks more goes on without answers. */
const QUESTIONS = 64;

/**
 * Over HTTP a client of the 2026 protocol has no connection to remember it by: those of the same name share a
 * conversation. What they share is which of a few names a model chose for the same words.
 */
export function conversationsByClient(): (sdk: ServerContext) => Conversation {
  const known = new Map<string, Conversation>();
  return ({ mcpReq }) => {
    const name = JSON.stringify(enveloped(mcpReq)[CLIENT_INFO_META_KEY] ?? '').slice(0, 500);
    const conversation = known.get(name) ?? newConversation();
    remember(known, name, conversation, CONVERSATIONS_KEPT);
    return conversation;
  };
}

/** Runs a call; where a client of the 2026 protocol has to be asked first, answers with the question instead. */
export type RunCall = <T>(work: (call: Call) => Promise<T>) => Promise<T | InputRequiredResult>;

/** A call that may ask the model of its client. */
export function askingCall(
  plain: Call,
  sdk: ServerContext,
  server: Server,
  era: 'legacy' | 'modern',
  conversation: Conversation,
): RunCall {
  const { mcpReq } = sdk;
  const capabilities =
    era === 'legacy' ? server.getClientCapabilities() : enveloped(mcpReq)[CLIENT_CAPABILITIES_META_KEY];
  const offers = (capabilities as { sampling?: unknown } | undefined)?.sampling !== undefined;
  const rounds = era === 'modern' && offers ? roundsOf(mcpReq, conversation) : undefined;
  let question: InputRequiredResult | undefined;

  async function sample(request: SampleRequest): Promise<Sampled> {
    const key = keyOf(request);
    const known = request.optional === true ? conversation.answers.get(key) : undefined;
    if (known !== undefined) return known;
    const answered = rounds?.answerTo(key, request);
    if (
      answered === undefined &&
      request.optional === true &&
      (conversation.silent || conversation.open.size > 0)
    )
      return { why: 'the client has left an earlier question without an answer' };
    if (rounds !== undefined && answered === undefined) {
      const refused = request.optional === true ? undefined : rounds.leftBefore(key);
      if (refused !== undefined) return refused;
      question = rounds.ask(key, request);
      throw new BmadError(
        'unavailable',
        'The model of the client is asked; the call goes on with its answer.',
      );
    }
    const { silent, ...answer } = answered ?? (await pushed(request, mcpReq));
    if (request.optional === true) {
      conversation.silent ||= silent === true;
      remember(conversation.answers, key, answer, ANSWERS_KEPT);
    }
    return answer;
  }

  const call: Call = offers ? { ...plain, sample } : plain;
  return async (work) => {
    try {
      const result = await work(call);
      return question ?? result;
    } catch (error) {
      if (question !== undefined) return question;
      throw error;
    }
  };
}

/** An answer, and whether there is none because the client did not give one. */
type Told = Sampled & { silent?: true };

/** Clients of the 2025 protocol are asked while they wait. */
async function pushed(request: SampleRequest, mcpReq: ServerContext['mcpReq']): Promise<Told> {
  try {
    const result = await mcpReq.requestSampling(paramsOf(request), {
      timeout: request.timeMs ?? DEFAULT_MS,
      signal: mcpReq.signal,
      relatedRequestId: mcpReq.id,
    });
    return textIn(result);
  } catch (error) {
    // What the client says of it may be anything, and is not repeated.
    const late = error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
    const refused = error instanceof ProtocolError;
    return {
      why: late
        ? 'the client did not answer in time'
        : refused
          ? 'the client refused, or could not ask its model'
          : 'what the client answered cannot be read',
      silent: true,
    };
  }
}

/**
 * What was asked and answered in earlier rounds of a call, as the client has brought it back. It may say anything; but all
 * that is in it are its own answers and when it was asked, so there is nothing to gain by changing it. Answers stand under
 * the digest of the whole question: those of another call fit nothing here.
 */
const stateSchema = z.object({
  asked: z.record(z.string().max(40), z.number()),
  answers: z.record(
    z.string().max(40),
    z.object({
      text: z.string().max(TEXT_LENGTH),
      cutShort: z.literal(true).optional(),
      model: z.string().max(MODEL_LENGTH).optional(),
    }),
  ),
});

interface Rounds {
  answerTo(key: string, request: SampleRequest): Told | undefined;
  /** Whether the same was asked in the call before, which has ended there. */
  leftBefore(key: string): Told | undefined;
  ask(key: string, request: SampleRequest): InputRequiredResult;
}

function roundsOf(mcpReq: ServerContext['mcpReq'], conversation: Conversation): Rounds {
  const { asked, answers } = stateOf(mcpReq.requestState());
  const count = Object.keys(asked).length;
  for (const key of Object.keys(asked)) {
    conversation.open.delete(key);
    conversation.left.delete(key);
  }
  return {
    answerTo(key, { timeMs = DEFAULT_MS }) {
      const earlier = answers[key];
      if (earlier !== undefined) return told(earlier);
      const at = asked[key];
      if (at === undefined) return undefined;
      if (Date.now() - at > timeMs) return { why: 'the answer came too late', silent: true };
      const response = inputResponse(mcpReq.inputResponses, key);
      if (response.kind !== 'sampling') return { why: 'the client did not answer', silent: true };
      const answer = textIn(response.result);
      if (answer.text !== undefined) answers[key] = answer;
      return answer;
    },
    leftBefore(key) {
      if (count >= QUESTIONS) return { why: 'the client was asked too often in one call' };
      // Asked anew the time after: somebody may have declined by mistake.
      return conversation.left.delete(key)
        ? { why: 'the client was asked before and did not come back with an answer' }
        : undefined;
    },
    ask(key, request) {
      if (request.optional === true) conversation.open.add(key);
      else remember(conversation.left, key, true, ANSWERS_KEPT);
      return inputRequired({
        inputRequests: { [key]: inputRequired.createMessage(paramsOf(request)) },
        requestState: JSON.stringify({ asked: { ...asked, [key]: Date.now() }, answers }),
      });
    },
  };
}

function stateOf(raw: unknown): z.output<typeof stateSchema> {
  const none = { asked: {}, answers: {} };
  if (typeof raw !== 'string') return none;
  try {
    const parsed = stateSchema.safeParse(JSON.parse(raw));
    return parsed.success ? parsed.data : none;
  } catch {
    return none;
  }
}

function paramsOf({ system, prompt, maxTokens, optional }: SampleRequest): CreateMessageRequestParams {
  return {
    messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
    ...(system === undefined ? {} : { systemPrompt: system }),
    maxTokens,
    // A small model does for what can be done without.
    ...(optional === true ? { modelPreferences: { speedPriority: 1, costPriority: 1 } } : {}),
  };
}

/** The text of an answer. One with a picture or a sound in it is none. */
function textIn({ content, stopReason, model }: CreateMessageResult | CreateMessageResultWithTools): Told {
  const parts = [content].flat() as ({ type?: unknown; text?: unknown } | undefined)[];
  const texts = parts.flatMap((part) =>
    part?.type === 'text' && typeof part.text === 'string' ? [part.text] : [],
  );
  if (texts.length === 0 || texts.length < parts.length)
    return { why: 'the answer of the client is no text' };
  const text = texts.join('\n\n');
  return told({
    text: text.slice(0, TEXT_LENGTH),
    cutShort: stopReason === 'maxTokens' || text.length > TEXT_LENGTH ? true : undefined,
    model: typeof model === 'string' ? model.slice(0, MODEL_LENGTH) : undefined,
  });
}

function told({ text, cutShort, model }: z.output<typeof stateSchema>['answers'][string]): SampledText {
  return {
    text,
    ...(cutShort === undefined ? {} : { cutShort }),
    ...(model === undefined ? {} : { model }),
  };
}

function keyOf(request: SampleRequest): string {
  return `ask-${createHash('sha256').update(JSON.stringify(request)).digest('hex').slice(0, 16)}`;
}

function enveloped(mcpReq: ServerContext['mcpReq']): Record<string, unknown> {
  return mcpReq.envelope ?? {};
}

function remember<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key);
  if (map.size >= most) map.delete(map.keys().next().value ?? '');
  map.set(key, value);
}
