import type { Answers, Inbox, Session } from './answers.ts';
import { signal } from '@preact/signals';
import { t, wishedLanguage } from './message.ts';

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

/** What went wrong, for whoever has just acted; a server that is gone says nothing itself. */
export const saidOf = (error: unknown): string =>
  error instanceof Problem && error.status !== 0
    ? error.message
    : t`The server does not answer. Is it still running?`;

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
  } catch {
    throw new Problem('', 0);
  }
  return answerOf(response);
}

const post = (path: string, body: unknown): Promise<unknown> =>
  sent(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-bmad-csrf': csrf },
    body: JSON.stringify(body),
  });

export type Args = Readonly<Record<string, unknown>>;

/** What was answered, and the call that takes back what was done, where there is one. */
export interface Done {
  data: unknown;
  undo?: { operation: string; args: Args };
}

/** Calls what an action of the inbox names, which may be anything the server offers. */
export async function perform(operation: string, args: Args): Promise<Done> {
  const answer = forPeople.has(operation)
    ? await post('/api/page/act', { operation, args })
    : await post(`/api/${operation}`, args);
  return answer as Done;
}

/** Calls an operation; its data, or the problem it has. */
export async function ask<K extends keyof Answers>(operation: K, args: Args = {}): Promise<Answers[K]> {
  return (await perform(operation, args)).data as Answers[K];
}

export const readSession = async (): Promise<Session> => (await sent('/api/page/session', {})) as Session;

export async function readInbox(project: string | undefined): Promise<Inbox> {
  const query = project === undefined ? '' : `?project=${encodeURIComponent(project)}`;
  return (await sent(`/api/page/inbox${query}`, {})) as Inbox;
}
