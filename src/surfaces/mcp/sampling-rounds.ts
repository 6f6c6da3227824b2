import {
  inputRequired,
  inputResponse,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { SampleRequest } from '../../operations/context.ts';
import { ANSWERS_KEPT, remember, type Conversation } from './conversations.ts';
import {
  DEFAULT_MS,
  MODEL_LENGTH,
  paramsOf,
  TEXT_LENGTH,
  textIn,
  told,
  type Told,
} from './sampling-messages.ts';

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

/** Questions of one call; a call that asks more goes on without answers. */
const QUESTIONS = 64;

export interface Rounds {
  answerTo(key: string, request: SampleRequest): Told | undefined;
  /** Whether the same was asked in the call before, which has ended there. */
  leftBefore(key: string): Told | undefined;
  ask(key: string, request: SampleRequest): InputRequiredResult;
}

/** The rounds of a call of the 2026 protocol: a question ends it, and the client calls again with the answer. */
export function roundsOf(mcpReq: ServerContext['mcpReq'], conversation: Conversation): Rounds {
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
