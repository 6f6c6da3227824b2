import { MASK, masked, type Rule } from './rules.ts';

/** Where the authority of a URL ends. A quotation mark may be part of a password, so it ends only what it closes. */
const AUTHORITY_END = /[\s/?#"<>`\\]|'(?=[\s,;)\]}]|$)/g;

/**
 * `user:password@` in URLs. A scan instead of one regular expression: it is linear, and it takes everything up to the
 * last `@` of the authority, so a password that holds an `@` does not leak its tail.
 */
export const URL_CREDENTIALS: Rule = {
  name: 'credentials in a URL',
  *find(text) {
    for (let scheme = text.indexOf('://'); scheme !== -1; scheme = text.indexOf('://', scheme + 3)) {
      const start = scheme + 3;
      AUTHORITY_END.lastIndex = start;
      const authority = text.slice(start, AUTHORITY_END.exec(text)?.index ?? text.length);
      const at = authority.lastIndexOf('@');
      if (at !== -1 && !isLogin(text.slice(Math.max(0, scheme - 4), scheme), authority))
        yield [start, start + at];
    }
  },
};

export function stripUrlCredentials(text: string): string {
  return masked(text, [URL_CREDENTIALS]).text;
}

/** The name before an ssh host says which account is meant, and is not a secret as long as no password follows. */
function isLogin(scheme: string, authority: string): boolean {
  return /(?:^|[^a-z0-9.-])ssh$/i.test(scheme) && /^[\w.~+-]+@[^@]*$/.test(authority);
}

/**
 * For an address that was typed and may be malformed: everything before the last `@` is removed, since a password may
 * contain any character.
 */
export function stripAddressCredentials(address: string): string {
  if (/^(?:git\+)?ssh:\/\/[\w.~+-]+@[^@#]*(?:#|$)/.test(address)) return address;
  return address
    .split('#')
    .map((part) => {
      const [scheme, at] = [part.indexOf('://'), part.lastIndexOf('@')];
      return scheme === -1 || at < scheme ? part : `${part.slice(0, scheme)}://${MASK}${part.slice(at)}`;
    })
    .join('#');
}

const SECRET_WORDS = new Set([
  'password',
  'passwords',
  'passwd',
  'passphrase',
  'pwd',
  'secret',
  'secrets',
  'token',
  'apikey',
  'credential',
  'credentials',
  'authorization',
]);
const SECRET_PAIRS = new Set([
  'api key',
  'private key',
  'access key',
  'secret key',
  'auth key',
  'signing key',
  'encryption key',
]);

/** `api_key`, `clientSecret`, `GITHUB_TOKEN`, `DBPassword`; not `max_tokens` or `token_budget`. */
export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  const last = words.at(-1) ?? '';
  return SECRET_WORDS.has(last) || SECRET_PAIRS.has(words.slice(-2).join(' '));
}
