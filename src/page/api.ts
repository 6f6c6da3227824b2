import type { Answers, Inbox, Session } from './answers.ts';
import { signal } from '@preact/signals';
import { wishedLanguage } from './message.ts';

/** What went wrong, as the server says it. */
export class Problem extends Error {
  readonly status: number;
  readonly hint: string | undefined;

  constructor(message: string, status: number, hint?: string) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

/** Nobody is let in without a session; what the server says about that replaces every view. */
export const signedOut = signal<Problem | undefined>(undefined);

/** Sent with everything that is not a plain read of an address; other sites cannot know it. */
let csrf = '';
/** What a person decides, and what only a person may see, has a door of its own; the server says what that is. */
let forPeople: ReadonlySet<string> = new Set();

export function useSession(session: Pick<Session, 'csrf' | 'forPeople'>): void {
  csrf = session.csrf;
  forPeople = new Set(session.forPeople);
}

async function answerOf(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok) return body;
  const { detail, title, hint } = (body ?? {}) as { detail?: string; title?: string; hint?: string };
  const problem = new Problem(detail ?? title ?? `HTTP ${response.status}`, response.status, hint);
  if (response.status === 401) signedOut.value = problem;
  throw problem;
}

async function sent(
  path: string,
  init: Omit<RequestInit, 'headers'> & { headers?: Readonly<Record<string, string>> },
): Promise<unknown> {
  let response: Response;
  try {
    const headers = { ...wishedLanguage(), ...init.headers };
    response = await fetch(path, { credentials: 'same-origin', ...init, headers });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    throw new Problem('', 0);
  }
  return answerOf(response);
}

const post = (path: string, body: unknown, over?: AbortSignal): Promise<unknown> =>
  sent(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-bmad-csrf': csrf },
    body: JSON.stringify(body),
    ...(over === undefined ? {} : { signal: over }),
  });

export type Args = Readonly<Record<string, unknown>>;

/** Calls an operation; its data, or the problem it has. */
export async function ask<K extends keyof Answers>(
  operation: K,
  args: Args = {},
  over?: AbortSignal,
): Promise<Answers[K]> {
  const answer = forPeople.has(operation)
    ? await post('/api/page/act', { operation, args }, over)
    : await post(`/api/${operation}`, args, over);
  return (answer as { data: Answers[K] }).data;
}

/** Calls what an action of the inbox names, which may be anything the server offers. */
export async function perform(operation: string, args: Args): Promise<unknown> {
  return ask(operation as keyof Answers, args);
}

export const readSession = async (): Promise<Session> => (await sent('/api/page/session', {})) as Session;

export async function readInbox(project: string | undefined, over?: AbortSignal): Promise<Inbox> {
  const query = project === undefined ? '' : `?project=${encodeURIComponent(project)}`;
  return (await sent(`/api/page/inbox${query}`, over === undefined ? {} : { signal: over })) as Inbox;
}
