import { CLIENT_INFO_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { createBounded } from '../../base/values.ts';
import type { Sampled } from '../../operations/context.ts';

/** What is remembered of a client between its calls. */
export interface Conversation {
  /** Answers to optional questions, by question. */
  answers: ReturnType<typeof createBounded<Sampled>>;
  /** Optional questions a client of the 2026 protocol was asked and has not come back with. */
  open: OpenQuestions;
  /** The same for the others: a client that repeats the call without an answer is not asked twice in a row. */
  left: OpenQuestions;
  /** The client has left a question without an answer, so it is not bothered with optional ones any more. */
  silent: boolean;
}

export const newConversation = (): Conversation => ({
  answers: createBounded(ANSWERS_KEPT),
  open: openQuestions(),
  left: openQuestions(),
  silent: false,
});

/** Answers and questions of one conversation. */
const ANSWERS_KEPT = 200;
const CONVERSATIONS_KEPT = 100;

/**
 * Over HTTP a client of the 2026 protocol has no connection to remember it by: those of the same caller and name share
 * a conversation. What they share is which of a few names a model chose for the same words, which questions were left.
 */
export function conversationsByClient(): (sdk: ServerContext) => Conversation {
  const known = createBounded<Conversation>(CONVERSATIONS_KEPT);
  return ({ mcpReq, http }) => {
    const client = JSON.stringify(enveloped(mcpReq)[CLIENT_INFO_META_KEY] ?? '').slice(0, 500);
    const name = `${http?.authInfo?.clientId ?? ''} ${client}`;
    const conversation = known.get(name) ?? newConversation();
    known.set(name, conversation);
    return conversation;
  };
}

export function enveloped(mcpReq: ServerContext['mcpReq']): Record<string, unknown> {
  return mcpReq.envelope ?? {};
}

/** After this time a question does not count as left open any more. */
const OPEN_MS = 60_000;
const MOST = 200;

/** Questions to a client that it has not come back with. */
interface OpenQuestions {
  add(key: string): void;
  /** Whether it was open. */
  delete(key: string): boolean;
  readonly size: number;
}

/**
 * Behind a balancer the answer may go to another replica, and this one never hears of it. So an open question holds
 * others back for a while, and not for good.
 */
export function openQuestions(): OpenQuestions {
  const asked = new Map<string, number>();
  const forget = (): void => {
    const since = Date.now() - OPEN_MS;
    for (const [key, at] of asked) if (at < since || asked.size > MOST) asked.delete(key);
  };
  return {
    add(key) {
      asked.delete(key);
      asked.set(key, Date.now());
      forget();
    },
    delete(key) {
      forget();
      return asked.delete(key);
    },
    get size() {
      forget();
      return asked.size;
    },
  };
}
