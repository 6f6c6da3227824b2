import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type InputRequiredResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { sha256 } from '../../base/sha256.ts';
import { telling } from '../../base/async.ts';
import { BmadError } from '../../base/errors.ts';
import type { Call, Confirmed, ConfirmRequest, SampleRequest, Sampled } from '../../operations/context.ts';
import { askedNow, asksPeople, personKey, tooLongToAsk } from './confirming.ts';
import { ANSWERS_KEPT, enveloped, remember, type Conversation } from './conversations.ts';
import { DEFAULT_MS, paramsOf, textIn, type ClientAnswer } from './sampling-messages.ts';
import { roundsOf, type StateCodec } from './sampling-rounds.ts';

const TELL_MS = 10_000;

/** Runs a call; where a client of the 2026 protocol has to be asked first, answers with the question instead. */
export type RunCall = <T>(work: (call: Call) => Promise<T>) => Promise<T | InputRequiredResult>;

/** A call that may ask the model of its client, or the person who uses it. */
export function askingCall(
  plain: Call,
  sdk: ServerContext,
  server: Server,
  era: 'legacy' | 'modern',
  conversation: Conversation,
  codec?: StateCodec,
  ending?: AbortSignal,
): RunCall {
  const { mcpReq } = sdk;
  const capabilities =
    era === 'legacy' ? server.getClientCapabilities() : enveloped(mcpReq)[CLIENT_CAPABILITIES_META_KEY];
  const offers = (capabilities as { sampling?: unknown } | undefined)?.sampling !== undefined;
  // Over HTTP the holder of a token would answer for the person, so nobody is asked there.
  const confirms = asksPeople(capabilities) && plain.overHttp !== true;
  const rounds = era === 'modern' && (offers || confirms) ? roundsOf(sdk, conversation, codec) : undefined;
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
      return { why: 'the client did not answer an earlier question', unasked: true };
    if (rounds !== undefined && answered === undefined) {
      const refused = request.optional === true ? undefined : rounds.refusal(key, request);
      if (refused !== undefined) return refused;
      if (request.waiting !== undefined) plain.progress(request.waiting);
      question = await rounds.ask(key, request);
      throw new BmadError('unavailable', 'Asking the client’s model; the call continues with its answer.');
    }
    const { silent, ...answer } = answered ?? (await pushed(request, mcpReq, plain, ending));
    // A client that has left has neither refused nor been silent.
    if (request.optional === true && !mcpReq.signal.aborted) {
      conversation.silent ||= silent === true;
      remember(conversation.answers, key, answer, ANSWERS_KEPT);
    }
    return answer;
  }

  async function confirm(request: ConfirmRequest): Promise<Confirmed> {
    const unasked = tooLongToAsk(request);
    if (unasked !== undefined) return unasked;
    if (rounds === undefined) return askedNow(request, sdk, plain, ending);
    const key = personKey(request);
    const answer = rounds.personsAnswer(key);
    if (answer !== undefined) return answer;
    question = await rounds.askPerson(key, request);
    throw new BmadError('unavailable', 'Asking a person; the call continues with the answer.');
  }

  const call: Call = {
    ...plain,
    ...(offers ? { sample } : {}),
    ...(confirms ? { confirm } : {}),
  };
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

/** Clients of the 2025 protocol are asked while they wait. */
async function pushed(
  request: SampleRequest,
  mcpReq: ServerContext['mcpReq'],
  { progress }: Call,
  ending?: AbortSignal,
): Promise<ClientAnswer> {
  const tell = (): void => (request.waiting === undefined ? undefined : progress(request.waiting));
  try {
    tell();
    // The method of the SDK for this refuses answers in several parts, which the protocol allows.
    const asked = mcpReq.send(
      { method: 'sampling/createMessage', params: { ...paramsOf(request) } },
      {
        timeout: request.timeMs ?? DEFAULT_MS,
        signal: ending === undefined ? mcpReq.signal : AbortSignal.any([mcpReq.signal, ending]),
      },
    );
    // Clients give up on calls of which they hear nothing.
    return textIn(await telling(asked, tell, TELL_MS));
  } catch (error) {
    if (ending?.aborted === true) return { why: 'the server is shutting down' };
    // What the client says of it may be anything, and is not repeated.
    const late = error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
    const refused = error instanceof ProtocolError;
    return {
      why: late
        ? 'the client did not answer in time'
        : refused
          ? 'the client refused or could not ask its model'
          : 'the client’s answer cannot be read',
      silent: true,
    };
  }
}

function keyOf(request: SampleRequest): string {
  return `ask-${sha256(JSON.stringify(request)).slice(0, 16)}`;
}
