import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { refuseAsProblem } from '../../../base/http/http-route.ts';
import { t } from '../../../base/text/message.ts';
import { digestOf, isForwarded, unauthorized, type Asked, type Gate, type Refused } from '../gate.ts';
import { csrfOf, type Passes, type PersonSession } from './passes.ts';

const COOKIE = 'bmad_person';
const CSRF_HEADER = 'x-bmad-csrf';
/** Of several cookies of one name, which other programs of the same host can cause, so many are looked at. */
const MOST_COOKIES = 4;
const SAFE = new Set(['GET', 'HEAD']);

interface PersonGateOptions {
  passes: Passes;
  /** Whether only its own machine can reach the server: then the person is its user. */
  own: boolean;
  /** Further addresses under which the page is served, such as that of a proxy. */
  origins(): readonly string[];
}

/**
 * Admits people by the cookie that their browser has, and everybody else as the gate behind it says. A request that has a
 * cookie and does not fit is refused, also where anybody would be served without one.
 */
export function personGate(behind: Gate, { passes, own, origins }: PersonGateOptions): Gate {
  return {
    wordsFor: async (headers) =>
      isPage(headers) && acceptedLanguage(headers['accept-language']) === 'fr'
        ? (await import('../../../language/french.ts')).FRENCH
        : undefined,
    async admit(authorization, asked) {
      const secrets = authorization === undefined ? cookiesIn(asked?.headers.cookie) : [];
      if (secrets.length === 0 || asked === undefined) return behind.admit(authorization, asked);
      const found = await sessionOf(secrets, passes);
      if (found === undefined)
        return unauthorized(t`The session has ended. Run "bmad page" and open the link it prints.`);
      const wrong = wrongWith(found.secret, asked, origins());
      if (wrong !== undefined) return wrong;
      return {
        known: 'person',
        subject: found.session.id,
        mayWrite: true,
        person: true,
        only: 'page',
        ...(own && !isForwarded(asked) ? { own: true } : {}),
      };
    },
  };
}

/** Only the page of this server calls from its own origin, and only it has a cookie. */
function isPage({ authorization, cookie, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  return authorization === undefined && (site === 'same-origin' || cookiesIn(cookie).length > 0);
}

/** The first of the two that there are words for. */
export function acceptedLanguage(accepted: string | null | undefined): 'en' | 'fr' {
  const wanted = (accepted ?? '').split(',').map((part) => part.trim().slice(0, 2).toLowerCase());
  return wanted.find((language) => language === 'en' || language === 'fr') === 'fr' ? 'fr' : 'en';
}

/** For a server that only people call. */
export const peopleOnly: Gate = {
  admit: async () =>
    unauthorized(t`This server is for people only. Run "bmad page" and open the link it prints.`),
};

export function sessionCookie(secret: string, untilMs: number, secure: boolean): string {
  const seconds = Math.max(0, Math.floor((untilMs - Date.now()) / 1_000));
  return `${COOKIE}=${secret}; Path=/api; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
}

/** The secret of the session that a request has, for what is made of it. */
export async function sessionOf(
  secrets: readonly string[],
  passes: Passes,
): Promise<{ secret: string; session: PersonSession } | undefined> {
  for (const secret of secrets) {
    const session = await passes.find(secret);
    if (session !== undefined) return { secret, session };
  }
  return undefined;
}

export function cookiesIn(header: string | null | undefined): string[] {
  const all = (header ?? '').split(';').map((part) => part.trim());
  return all
    .filter((part) => part.startsWith(`${COOKIE}=`))
    .map((part) => part.slice(COOKIE.length + 1))
    .filter((secret) => /^[\w-]{1,100}$/.test(secret))
    .slice(0, MOST_COOKIES);
}

/** Cookies know no ports: what another server of this machine has put into a browser may send it as well. */
function wrongWith(
  secret: string,
  { method, headers }: Asked,
  origins: readonly string[],
): Refused | undefined {
  const { [CSRF_HEADER]: sent, 'sec-fetch-site': site } = headers;
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return refused(t`Only the page of this server may use its session.`);
  if (SAFE.has(method) && headers.origin === undefined) return undefined;
  if (!isOwnPage(headers, origins))
    return refused(t`The header Origin must be that of the page on this very server.`);
  if (SAFE.has(method)) return undefined;
  if (typeof sent !== 'string' || !timingSafeEqual(digestOf(sent), digestOf(csrfOf(secret))))
    return refused(t`The header ${CSRF_HEADER} must have the value that /api/page/session gives.`);
  return undefined;
}

/** With its port, unlike what programs are held to. */
function isOwnPage({ origin, host }: IncomingHttpHeaders, origins: readonly string[]): boolean {
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).host === host.toLowerCase() || origins.includes(origin);
}

function refused(message: string): Refused {
  return { status: 403, message, headers: {} };
}

/** Told to programs, and to people without a session. */
export function notAPerson(): Response {
  return refuseAsProblem(
    401,
    t`This is for people. Run "bmad page" on the server’s machine and open the link it prints.`,
    { 'www-authenticate': 'Bearer' },
  );
}
