import { createHash } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  inputRequired,
  inputResponse,
  type CreateMessageRequestParams,
  type InputRequiredResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import type { Call, SampleRequest, Sampled } from '../../operations/context.ts';
import type { RoundState, StateCodec } from './state-codec.ts';

/** What is remembered of a client between its calls. */
export interface Conversation {
  /** Answers to optional questions, by question. */
  answers: Map<string, Sampled>;
  /** Questions a client of the 2026 protocol was asked and has not come back with. */
  open: Set<string>;
  /** The client has left a question without an answer, so it is not bothered with optional ones any more. */
  silent: boolean;
}

export const newConversation = (): Conversation => ({ answers: new Map(), open: new Set(), silent: false });

const ANSWERS_KEPT = 200;
const CONVERSATIONS_KEPT = 100;
const DEFAULT_MS = 60_000;
const TEXT_LENGTH = 200_000;

/**
 * Over HTTP a client of the 2026 protocol has no connection to remember it by: those of the same caller and name share
 * a conversation. What they share is which of a few names a model chose for the same words.
 */
export function conversationsByClient(): (sdk: ServerContext) => Conversation {
  const known = new Map<string, Conversation>();
  return ({ mcpReq, http }) => {
    const client = JSON.stringify(enveloped(mcpReq)[CLIENT_INFO_META_KEY] ?? '').slice(0, 500);
    const name = `${http?.authInfo?.clientId ?? ''} ${client}`;
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
  codec: StateCodec,
): RunCall {
  const { mcpReq } = sdk;
  const capabilities =
    era === 'legacy' ? server.getClientCapabilities() : enveloped(mcpReq)[CLIENT_CAPABILITIES_META_KEY];
  const offers = (capabilities as { sampling?: unknown } | undefined)?.sampling !== undefined;
  const rounds = era === 'modern' && offers ? roundsOf(sdk, conversation, codec) : undefined;
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
      question = await rounds.ask(key, request);
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
    const { content } = await mcpReq.requestSampling(paramsOf(request), {
      timeout: request.timeMs ?? DEFAULT_MS,
      signal: mcpReq.signal,
      relatedRequestId: mcpReq.id,
    });
    return textIn(content);
  } catch {
    return { why: 'the client did not answer in time, or refused', silent: true };
  }
}

/** What was asked and answered in earlier rounds of a call, as the client has brought it back. */
const stateSchema = z.object({
  asked: z.record(z.string(), z.number()),
  answers: z.record(z.string(), z.string().max(TEXT_LENGTH)),
});

interface Rounds {
  answerTo(key: string, request: SampleRequest): Told | undefined;
  ask(key: string, request: SampleRequest): Promise<InputRequiredResult>;
}

function roundsOf(sdk: ServerContext, conversation: Conversation, codec: StateCodec): Rounds {
  const { mcpReq } = sdk;
  const { asked, answers } = stateOf(mcpReq.requestState());
  for (const key of Object.keys(asked)) conversation.open.delete(key);
  return {
    answerTo(key, { timeMs = DEFAULT_MS }) {
      const earlier = answers[key];
      if (earlier !== undefined) return { text: earlier };
      const at = asked[key];
      if (at === undefined) return undefined;
      if (Date.now() - at > timeMs) return { why: 'the answer came too late', silent: true };
      const response = inputResponse(mcpReq.inputResponses, key);
      if (response.kind !== 'sampling') return { why: 'the client did not answer', silent: true };
      const told = textIn(response.result.content);
      if (told.text !== undefined) answers[key] = told.text;
      return told;
    },
    async ask(key, request) {
      conversation.open.add(key);
      return inputRequired({
        inputRequests: { [key]: inputRequired.createMessage(paramsOf(request)) },
        requestState: await codec.mint({ asked: { ...asked, [key]: Date.now() }, answers }, sdk),
      });
    },
  };
}

/** The seal says that it is ours; an older or newer version of the server may have made it. */
function stateOf(raw: unknown): RoundState {
  const parsed = stateSchema.safeParse(raw);
  return parsed.success ? parsed.data : { asked: {}, answers: {} };
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

function textIn(content: unknown): Told {
  const [only, ...more] = [content].flat() as ({ type?: unknown; text?: unknown } | undefined)[];
  return more.length === 0 && only?.type === 'text' && typeof only.text === 'string'
    ? { text: only.text.slice(0, TEXT_LENGTH) }
    : { why: 'the answer of the client is no text' };
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
