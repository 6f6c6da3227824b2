import {
  CLIENT_CAPABILITIES_META_KEY,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type CreateMessageResultWithTools,
  type ElicitRequestFormParams,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  ProtocolError,
  type RequestStateCodec,
  SdkError,
  SdkErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { telling } from '../../base/async.ts';
import { BmadError } from '../../base/errors.ts';
import { present, sha256 } from '../../base/values.ts';
import type {
  Call,
  Confirmed,
  ConfirmRequest,
  Sampled,
  SampledText,
  SampleRequest,
} from '../../operations/context.ts';
import { type Conversation, enveloped } from './conversations.ts';

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
      conversation.answers.set(key, answer);
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

/** What is taken of an answer; what is longer is cut. */
const TEXT_LENGTH = 200_000;
const MODEL_LENGTH = 200;
/** How long a client may think unless the request says otherwise. */
const DEFAULT_MS = 60_000;

/** An answer, and whether there is none because the client did not give one. */
type ClientAnswer = Sampled & { silent?: true };

function paramsOf({ system, prompt, maxTokens, optional }: SampleRequest): CreateMessageRequestParams {
  return {
    messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
    ...present({ systemPrompt: system }),
    maxTokens,
    // A small model does for what can be done without.
    ...(optional === true ? { modelPreferences: { speedPriority: 1, costPriority: 1 } } : {}),
  };
}

/** The text of an answer. One with a picture or a sound in it is none. */
function textIn({
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

interface Rounds {
  answerTo(key: string, request: SampleRequest): ClientAnswer | undefined;
  /** Why it is not asked: too much has been, or the same was asked in the call before, which has ended there. */
  refusal(key: string, request: SampleRequest): ClientAnswer | undefined;
  ask(key: string, request: SampleRequest): Promise<InputRequiredResult>;
  /** What a person said to a question of the round before; nothing if it is still to be asked. */
  personsAnswer(key: string): Confirmed | undefined;
  askPerson(key: string, request: ConfirmRequest): Promise<InputRequiredResult>;
}

/** The rounds of a call of the 2026 protocol: a question ends it, and the client calls again with the answer. */
function roundsOf(sdk: ServerContext, conversation: Conversation, codec?: StateCodec): Rounds {
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

/** A person may have to read a script first. */
const PERSON_MS = 300_000;
const WAITING = 'Waiting for a person to decide';
const FIELD = 'allow';

/** Whether the client can put a form in front of a person; those of before there were kinds of it can. */
function asksPeople(capabilities: unknown): boolean {
  const { elicitation } = (capabilities ?? {}) as { elicitation?: { form?: unknown; url?: unknown } };
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** The same question has the same key, so an answer is to exactly what was shown. */
function personKey(request: ConfirmRequest): string {
  return `person-${sha256(JSON.stringify(request)).slice(0, 16)}`;
}

/** A form of a host has no room for more. */
const MOST_CHARACTERS = 6_000;

/** A person decides on what they have seen: what no form can show whole is decided at the command line or on the page. */
function tooLongToAsk({ details }: ConfirmRequest): Confirmed | undefined {
  if (details.length <= MOST_CHARACTERS) return undefined;
  return { yes: false, why: `${details.length} characters are too many to be shown in a form` };
}

function formOf({ question, details, yes }: ConfirmRequest): ElicitRequestFormParams {
  return {
    message: [question, details].filter(Boolean).join('\n\n'),
    requestedSchema: {
      type: 'object',
      properties: { [FIELD]: { type: 'boolean', title: yes, default: false } },
      required: [FIELD],
    },
  };
}

/** Only an explicit yes is one: a form that is sent off untouched says no. */
function said(action: string, content: Readonly<Record<string, unknown>> | undefined): Confirmed {
  if (action === 'accept' && content?.[FIELD] === true) return { yes: true };
  return { yes: false, why: action === 'cancel' ? 'no one decided' : 'the person who was asked said no' };
}

const UNANSWERED: Confirmed = { yes: false, why: 'no one answered' };

/** Clients of the 2025 protocol are asked while they wait. */
async function askedNow(
  request: ConfirmRequest,
  { mcpReq }: ServerContext,
  { progress }: Call,
  ending: AbortSignal | undefined,
): Promise<Confirmed> {
  const tell = (): void => progress(WAITING);
  try {
    tell();
    const asked = mcpReq.elicitInput(formOf(request), {
      timeout: PERSON_MS,
      signal: ending === undefined ? mcpReq.signal : AbortSignal.any([mcpReq.signal, ending]),
    });
    const { action, content } = await telling(asked, tell, TELL_MS);
    return said(action, content);
  } catch (error) {
    const late = error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
    return late ? UNANSWERED : { yes: false, why: 'the client could not ask anyone' };
  }
}

/** What a client of the 2026 protocol has brought back; nothing if it was not asked this. */
function answeredBefore(
  key: string,
  asked: Readonly<Record<string, number>>,
  { mcpReq }: ServerContext,
): Confirmed | undefined {
  const at = asked[key];
  if (at === undefined) return undefined;
  const response = inputResponse(mcpReq.inputResponses, key);
  if (response.kind !== 'elicit' || Date.now() - at > PERSON_MS) return UNANSWERED;
  return said(response.action, response.content);
}

/** The question to a client of the 2026 protocol, as the answer to its call. */
function askedNext(key: string, request: ConfirmRequest, requestState: string): InputRequiredResult {
  return inputRequired({ inputRequests: { [key]: inputRequired.elicit(formOf(request)) }, requestState });
}
