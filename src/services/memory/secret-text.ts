import { BmadError } from '../../base/errors.ts';
import { isSecretName, MASK, stripUrlCredentials } from '../../base/secret-names.ts';

/** What tokens of well-known services look like. */
const TOKENS: readonly [string, RegExp][] = [
  ['a GitHub token', /\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255})\b/g],
  ['a GitLab token', /\bglpat-[\w-]{20,100}/g],
  ['an npm token', /\bnpm_[A-Za-z0-9]{36}\b/g],
  ['an API key', /\bsk-[A-Za-z0-9_-]{20,255}/g],
  ['a Slack token', /\bxox[abeoprs]-[\w-]{10,255}/g],
  ['an AWS key', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g],
  ['a Google key', /\bAIza[\w-]{35}/g],
  ['a JSON web token', /\beyJ[\w-]{8,2000}\.eyJ[\w-]{8,4000}\.[\w-]{8,2000}/g],
  ['a bearer token', /(?<=\bBearer )[\w.~+/-]{16,4000}=*/gi],
];

/** `password=…`, `api_key: "…"`. */
const ASSIGNMENT =
  /(?<![\w.-])([\w.-]{2,60})(["']?[ \t]{0,3}(?:=|:)[ \t]{0,3})(["']?)([^\s"'`,;<>{}]{6,500})\3/g;

const PRIVATE_KEY = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/;

/**
 * Takes out of a text what must not be kept. Memories are shared: they lie in files that a team commits, and are given
 * to models of other days. A private key is refused, because a text around one has no other purpose.
 */
export function secretsOut(text: string, hide: (text: string) => string): { text: string; found: string[] } {
  if (PRIVATE_KEY.test(text))
    throw new BmadError('invalid_input', 'The text holds a private key, which is not remembered.', {
      subject: 'text',
      hint: 'Say where the key is kept instead.',
    });
  const found = new Set<string>();
  const step = (what: string, next: string, before: string): string => {
    if (next !== before) found.add(what);
    return next;
  };
  let safe = step('a secret of this environment', hide(text), text);
  safe = step('credentials in a URL', stripUrlCredentials(safe), safe);
  for (const [what, pattern] of TOKENS) safe = step(what, safe.replace(pattern, MASK), safe);
  safe = step(
    'the value of a secret',
    safe.replace(ASSIGNMENT, (all, name: string, sign: string, quote: string, value: string) =>
      isSecretName(name) && isValue(value, sign, quote) ? `${name}${sign}${quote}${MASK}${quote}` : all,
    ),
    safe,
  );
  return { text: safe, found: [...found] };
}

/** In prose, "password: required" is about a password; a value has a digit or a sign in it, or stands in quotes. */
function isValue(value: string, sign: string, quote: string): boolean {
  if (value.startsWith(MASK) || /^\$|^%\w+%$/.test(value)) return false;
  return (
    sign.includes('=') ||
    quote !== '' ||
    (/\d/.test(value) && /[A-Za-z]/.test(value)) ||
    /[!@#$%^&*+]/.test(value)
  );
}
