import { around } from './async.ts';
import { jsonIn } from './parse/json.ts';
import { present, sha256 } from './values.ts';

/** Who asks for something to be done, as far as the server can tell. It is kept with what is written, and grants nothing. */
export interface Caller {
  /** By a token, a login of an identity provider, a person's own credential, or a program of this machine's user. */
  kind: 'token' | 'oauth' | 'person' | 'local';
  /** Who the identity provider or the token file says it is, else what tells one token from another; locally the user of the project. */
  name: string;
  /** What the client calls itself. */
  host?: string | undefined;
  session?: string | undefined;
}

const callers = around<Partial<Caller>>('who calls');

/** Whatever is written while `work` runs was asked for by this caller. */
export const calledBy = callers.within;

/** Nothing is known of one who calls a service without an operation. */
export const callerNow = (): Partial<Caller> => callers.now() ?? {};

/** Enough to tell tokens apart, and too little to try out whether a guessed one is right. */
const TOKEN_DIGITS = 8;

/** What a call says about its caller. */
export function callerOf(call: {
  caller?: string | undefined;
  callerName?: string | undefined;
  host?: string | undefined;
  session?: string | undefined;
  person?: boolean;
}): Partial<Caller> {
  const [known = '', ...subject] = call.caller?.split(' ') ?? [];
  const kind =
    call.person === true ? 'person' : (['token', 'oauth', 'person'] as const).find((each) => each === known);
  return present({
    kind,
    name: call.callerName ?? nameOf(known, subject.join(' ')),
    host: call.host,
    session: call.session,
  });
}

/** Tells tokens of one name apart, and says which is meant where one has none. */
export function tokenDigits(caller: string | undefined): string | undefined {
  const [known, subject] = caller?.split(' ') ?? [];
  return known === 'token' && subject !== undefined ? sha256(subject).slice(0, TOKEN_DIGITS) : undefined;
}

function nameOf(known: string, subject: string): string | undefined {
  if (known === 'token') return tokenDigits(`token ${subject}`);
  const parts: unknown = known === 'oauth' ? jsonIn(subject) : undefined;
  return Array.isArray(parts) && typeof parts[1] === 'string' ? parts[1].slice(0, 200) : undefined;
}
