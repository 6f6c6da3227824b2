import {
  inputRequired,
  inputResponse,
  type InputRequiredResult,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { present } from '../../base/present.ts';
import type { Confirmed, ConfirmRequest, SampledText, SampleRequest } from '../../operations/context.ts';
import { answeredBefore, askedNext } from './confirming.ts';
import type { Conversation } from './conversations.ts';
import {
  DEFAULT_MS,
  MODEL_LENGTH,
  paramsOf,
  TEXT_LENGTH,
  textIn,
  type ClientAnswer,
} from './sampling-messages.ts';

/**
 * What was asked and answered in earlier rounds of a call, as the client has returned it. Over stdin it may say
 * anything; but it contains only the client's own answers and when it was asked, so there is nothing to gain by
 * changing it. Over HTTP it is sealed, and anything that is not ours never gets here. Answers are stored under the
 * digest of the whole question: those of another call match nothing here.
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
  /** What questions come to with their answers, in tokens. */
  costs: z.record(z.string().max(40), z.number().nonnegative()).optional(),
});

export type RoundState = z.output<typeof stateSchema>;
export type StateCodec = RequestStateCodec<RoundState>;

/** Questions per call; a call that asks more continues without answers. */
const QUESTIONS = 64;

export interface Rounds {
  answerTo(key: string, request: SampleRequest): ClientAnswer | undefined;
  /** Why it is not asked: too much has been, or the same was asked in the call before, which has ended there. */
  refusal(key: string, request: SampleRequest): ClientAnswer | undefined;
  ask(key: string, request: SampleRequest): Promise<InputRequiredResult>;
  /** What a person said to a question of the round before; nothing if it is still to be asked. */
  personsAnswer(key: string): Confirmed | undefined;
  askPerson(key: string, request: ConfirmRequest): Promise<InputRequiredResult>;
}

/** The rounds of a call of the 2026 protocol: a question ends it, and the client calls again with the answer. */
export function roundsOf(sdk: ServerContext, conversation: Conversation, codec?: StateCodec): Rounds {
  const { mcpReq } = sdk;
  const { asked, answers, costs = {} } = stateOf(mcpReq.requestState());
  const count = Object.keys(asked).length;
  /** Questions of earlier rounds that this one comes by again. */
  const used = new Set<string>();
  for (const key of Object.keys(asked)) {
    conversation.open.delete(key);
    conversation.left.delete(key);
  }
  const stateWith = async (key: string, cost: number): Promise<string> => {
    const state = {
      asked: { ...asked, [key]: Date.now() },
      answers,
      costs: { ...costs, ...(cost === 0 ? {} : { [key]: cost }) },
    };
    return codec === undefined ? JSON.stringify(state) : codec.mint(state, sdk);
  };
  return {
    answerTo(key, { timeMs = DEFAULT_MS }) {
      used.add(key);
      const earlier = answers[key];
      if (earlier !== undefined) return present<SampledText>({ ...earlier, text: earlier.text });
      const at = asked[key];
      if (at === undefined) return undefined;
      if (Date.now() - at > timeMs) return { why: 'the answer came too late', silent: true };
      const response = inputResponse(mcpReq.inputResponses, key);
      if (response.kind !== 'sampling') return { why: 'the client did not answer', silent: true };
      const answer = textIn(response.result);
      if (answer.text !== undefined) answers[key] = answer;
      return answer;
    },
    refusal(key, { within }) {
      // A file that changes between rounds makes other questions; those before have been paid for all the same.
      if (count >= Math.min(QUESTIONS, within?.questions ?? QUESTIONS))
        return { why: `the model was asked ${count} times, the limit of one call`, unasked: true };
      const spent = Object.entries(costs).reduce((sum, [each, cost]) => sum + (used.has(each) ? 0 : cost), 0);
      if (within !== undefined && spent + within.cost > within.tokens)
        return { why: 'the next question would exceed the token limit of one call', unasked: true };
      // Asked again the time after: the user may have declined by mistake.
      return conversation.left.delete(key)
        ? { why: 'the client was already asked and did not return an answer', unasked: true }
        : undefined;
    },
    async ask(key, request) {
      if (request.optional === true) conversation.open.add(key);
      else conversation.left.add(key);
      return inputRequired({
        inputRequests: { [key]: inputRequired.createMessage(paramsOf(request)) },
        requestState: await stateWith(key, request.within?.cost ?? 0),
      });
    },
    personsAnswer: (key) => answeredBefore(key, asked, sdk),
    askPerson: async (key, request) => askedNext(key, request, await stateWith(key, 0)),
  };
}

/** A text where it is not sealed. What another version of the server made may have another shape. */
function stateOf(raw: unknown): RoundState {
  const none = { asked: {}, answers: {} };
  try {
    const parsed = stateSchema.safeParse(typeof raw === 'string' ? JSON.parse(raw) : raw);
    return parsed.success ? parsed.data : none;
  } catch {
    return none;
  }
}
