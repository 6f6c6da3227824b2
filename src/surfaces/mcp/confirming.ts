import {
  inputRequired,
  inputResponse,
  SdkError,
  SdkErrorCode,
  type ElicitRequestFormParams,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { telling } from '../../base/async.ts';
import { sha256 } from '../../base/sha256.ts';
import type { Call, Confirmed, ConfirmRequest } from '../../operations/context.ts';

/** A person may have to read a script first. */
const PERSON_MS = 300_000;
const TELL_MS = 10_000;
const WAITING = 'Waiting for a person to decide';
const FIELD = 'allow';

/** Whether the client can put a form in front of a person; those of before there were kinds of it can. */
export function asksPeople(capabilities: unknown): boolean {
  const { elicitation } = (capabilities ?? {}) as { elicitation?: { form?: unknown; url?: unknown } };
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** The same question has the same key, so an answer is to exactly what was shown. */
export function personKey(request: ConfirmRequest): string {
  return `person-${sha256(JSON.stringify(request)).slice(0, 16)}`;
}

/** A form of a host has no room for more. */
const MOST_CHARACTERS = 6_000;

/** A person decides on what they have seen: what no form can show whole is decided at the command line or on the page. */
export function tooLongToAsk({ details }: ConfirmRequest): Confirmed | undefined {
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
export async function askedNow(
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
export function answeredBefore(
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
export function askedNext(key: string, request: ConfirmRequest, requestState: string): InputRequiredResult {
  return inputRequired({ inputRequests: { [key]: inputRequired.elicit(formOf(request)) }, requestState });
}
