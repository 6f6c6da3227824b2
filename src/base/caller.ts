import { around } from './async.ts';
import { jsonIn } from './parse/json.ts';
import { present, sha256, shortDigest } from './values.ts';

/** By a token, a login of an identity provider, a person's own credential, or over HTTP without any of them. */
const KINDS = ['token', 'oauth', 'person', 'anonymous'] as const;

/** What a line says; everything else is a program of the user of its machine. */
export const kindOf = (said: unknown): Caller['kind'] => KINDS.find((each) => each === said) ?? 'local';

/** Who asks for something to be done, as far as the server can tell. It is kept with what is written, and grants nothing. */
export interface Caller {
  kind: (typeof KINDS)[number] | 'local';
  /**
   * Who the identity provider or the token file says it is, else what tells one token from another; locally the user of the
   * project, and empty where nobody knows.
   */
  name: string;
  /** What the client calls itself. */
  host?: string | undefined;
  session?: string | undefined;
  /** Tells the lines of one call from those of others, where its caller may ask what became of it. */
  call?: string | undefined;
}

const callers = around<Partial<Caller>>('who calls');

/** Whatever is written while `work` runs was asked for by this caller. */
export const calledBy = callers.within;

/** Nothing is known of one who calls a service without an operation. */
export const callerNow = (): Partial<Caller> => callers.now() ?? {};

/** Enough to tell tokens apart, and too little to try out whether a guessed one is right. */
const TOKEN_DIGITS = 8;

type Calling = Partial<Record<'caller' | 'callerName' | 'host' | 'key' | 'session', string | undefined>> &
  Partial<Record<'person' | 'overHttp', boolean | undefined>>;

/** What a call says about its caller. */
export function callerOf(call: Calling): Partial<Caller> {
  const { caller, callerName, host, session, person, overHttp } = call;
  const from = { host, session, call: markOf(call) };
  if (overHttp === true && caller === undefined)
    return present({ kind: 'anonymous' as const, name: '', ...from });
  const [known = '', ...subject] = caller?.split(' ') ?? [];
  const kind = person === true ? 'person' : kindOf(known);
  return present({
    kind: kind === 'local' ? undefined : kind,
    name: callerName ?? nameOf(known, subject.join(' ')),
    ...from,
  });
}

/** The same key of another caller is another call. */
export const markOf = ({ caller = '', key }: Calling): string | undefined =>
  key === undefined ? undefined : shortDigest(JSON.stringify([caller, key]));

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
