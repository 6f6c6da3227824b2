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

/**
 * The one table of names. A name is taken apart into words, and the last of them say what it is the name of:
 * `GITHUB_TOKEN`, `clientSecret`, `clé d'API`. What is not here is no secret by its name; `secret-shapes.ts` has the
 * table of what is known by its look.
 */
const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const pairs = (text: string): ReadonlySet<string> => new Set(text.split(', '));

/** The last word. */
const WORDS = words(
  'password passwords passwd passphrase passcode pass pwd pw secret secrets token apikey credential credentials ' +
    'authorization bearer mdp motdepasse jeton requirepass masterauth rootpw sshpass dbpass userpass rootpass ' +
    'adminpass smtppass mailpass ftppass keypass storepass',
);
/** How the last word ends where the others are written into it: `PGPASSWORD`, `authtoken`. */
const ENDING =
  /(?:password|passwd|passphrase|motdepasse|apikey|secretkey|accesskey|privatekey|clientsecret|(?:auth|access|refresh|identity|bot|api)token)$/;
/** The last two words. */
const PAIRS = pairs(
  'api key, private key, access key, secret key, auth key, signing key, encryption key, account key, shared key, ' +
    'master key, app key, functions key, key data, certificate data, x auth, api auth, subscription key, license key, nonce key, session key, hmac key, jwt key, key base, ' +
    'auth salt, nonce salt, in salt, in key, password salt, erlang cookie, seed phrase, recovery phrase, ' +
    'mot passe, mots passe, cle api, cle acces, cle secrete, cle privee, cle chiffrement, cle signature, ' +
    'jeton acces, jeton api',
);
/** The last two words of what only sounds like one: where requests go, rounds of a work, words of a language model. */
const OTHERS = pairs(
  'proxy pass, fastcgi pass, uwsgi pass, scgi pass, grpc pass, memcached pass, ask pass, first pass, second pass, ' +
    'third pass, last pass, next pass, final pass, single pass, multi pass, one pass, two pass, each pass, per pass, ' +
    'test pass, tests pass, all pass, on pass, to pass, must pass, review pass, render pass, no password, no passwd, ' +
    'has password, show password, hide password, ask password, forgot password, pad token, eos token, bos token, ' +
    'unk token, sep token, cls token, mask token, stop token, special token, per token, each token, first token, ' +
    'next token, pull secrets, is secret',
);
const OTHER_WORDS = words('nopasswd nopassword');
/** Which one of several it is, and how it is written: `API_KEY_STAGING`, `password2`, `token_base64`. */
const QUALIFIERS = words(
  'prod production preprod staging stage dev live sandbox old new current previous primary secondary value plain b64 base64',
);
/** Between the words of a French name: `clé d'API`, `jeton de l'API`. */
const PARTICLES = words('d de des du l la le');

/** `api_key`, `clientSecret`, `PGPASSWORD`, `smtp_pass`, `DBPassword`, `motDePasse`; not `max_tokens` or `first_pass`. */
export function isSecretName(name: string): boolean {
  const parts = nameWords(name);
  // In French, what it is for comes after it: `MDP_BASE`.
  if (parts.includes('mdp')) return true;
  while (parts.length > 1 && isQualifier(parts)) parts.pop();
  const last = withoutNumber(parts.pop() ?? '');
  const two = `${parts.at(-1) ?? ''} ${last}`;
  if (OTHERS.has(two) || OTHER_WORDS.has(last)) return false;
  return WORDS.has(last) || PAIRS.has(two) || ENDING.test(last);
}

/** A pass with a number is a round of a work: `pass 2`. */
function isQualifier(parts: readonly string[]): boolean {
  const last = parts.at(-1) ?? '';
  return QUALIFIERS.has(last) || (/^\d+$/.test(last) && parts.at(-2) !== 'pass');
}

/** `password2`. */
function withoutNumber(word: string): string {
  return /^([a-z]{5,})\d{1,4}$/.exec(word)?.[1] ?? word;
}

function nameWords(name: string): string[] {
  return name
    .normalize('NFD')
    .replace(/[\u0300-\u036F]/g, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '' && !PARTICLES.has(word));
}
