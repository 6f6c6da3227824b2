import { BmadError } from '../errors.ts';
import { MASK, stripUrlCredentials } from './secret-names.ts';
import { isStrange, isStrangeWord, maskTold } from './secret-sentences.ts';
import { hasPrivateKey, maskPrivateKeys, maskShapes, namesSecret } from './secret-shapes.ts';

/**
 * What may be the name of a secret, and a sign or word after it that a value follows: `password=`, `"api_key": `,
 * `mot de passe : `, `the token is `. French puts a blank, often one that does not break, before the colon.
 */
const NAMED =
  /(?<![\p{L}\p{N}_.-])(mots?[ _-]de[ _-]passe|cl[ée]s?[ _-](?:d['’]|de[ _])?(?:api|acc[eè]s|secr[eè]te|priv[ée]e|chiffrement|signature)|jetons?[ _-](?:d['’])?(?:api|acc[eè]s)|(?:api|access|account|secret|private|shared|auth|signing|encryption)[ _-]?key|[\p{L}\p{N}_.-]{2,60})(["']?)([ \t\u00A0\u202F]{0,3}[=:][ \t\u00A0\u202F]{0,3}|[ \t]{1,3}(?:is|est|vaut)[ \t]{1,3})/giu;
const QUOTED = /(["'])((?:(?!\1)[^\n]){1,500})\1/y;
const BARE = /[^\s"'`,;<>{}]{1,500}/y;
const IN_ADDRESS = /[^\s"'`,;<>{}&]{1,500}/y;

/**
 * Removes what must not be stored from a text. Memories are shared: they are in files that a team commits, and are
 * passed to models later on. A private key is refused, because a text around one has no other purpose.
 */
export function secretsOut(text: string, hide: (text: string) => string): { text: string; found: string[] } {
  if (hasPrivateKey(text))
    throw new BmadError('invalid_input', 'The text contains a private key, which is never stored.', {
      subject: 'text',
      hint: 'Describe where the key is kept instead.',
    });
  return masked(text, hide);
}

/** The text of another person's file, as it may be shown: its author cannot be asked to write it differently. */
export function shownText(text: string, hide: (text: string) => string): string {
  return masked(maskPrivateKeys(text), hide).text;
}

/** Refuses a name or a tag that is a secret: masked, it would say nothing. */
export function refuseSecret(text: string, subject: string, hide: (text: string) => string = String): void {
  const { found } = hasPrivateKey(text) ? { found: ['a private key'] } : masked(text, hide);
  if (found.length === 0) return;
  throw new BmadError('invalid_input', `The value of ${subject} looks like ${found.join(', ')}.`, {
    subject,
    hint: 'Use a plain word; secrets are never stored.',
  });
}

function masked(text: string, hide: (text: string) => string): { text: string; found: string[] } {
  const found = new Set<string>();
  const step = (what: string, next: string, before: string): string => {
    if (next !== before) found.add(what);
    return next;
  };
  let safe = step('a secret from this environment', hide(text), text);
  safe = step('credentials in a URL', stripUrlCredentials(safe), safe);
  const shapes = maskShapes(safe);
  for (const what of shapes.found) found.add(what);
  safe = step('the value of a secret', maskTold(maskValues(shapes.text)), shapes.text);
  return { text: safe, found: [...found] };
}

/** Masks what follows the name of a secret. A name that is not one leaves what follows it unchanged. */
function maskValues(text: string): string {
  let safe = '';
  let from = 0;
  NAMED.lastIndex = 0;
  for (let named = NAMED.exec(text); named !== null; named = NAMED.exec(text)) {
    const [, name = '', , sign = ''] = named;
    const start = NAMED.lastIndex;
    // A name may begin inside what was taken for a sign: `x is password=…`.
    if (!namesSecret(name) && !WEAK.test(name)) NAMED.lastIndex = named.index + name.length;
    else {
      const value = valueAt(text, start, text.charAt(named.index - 1));
      if (value === undefined || !isValue(name, sign, value)) continue;
      safe += text.slice(from, start + value.inset) + MASK;
      from = start + value.inset + value.text.length;
      NAMED.lastIndex = from;
    }
  }
  return safe + text.slice(from);
}

interface Value {
  text: string;
  quoted: boolean;
  /** How far inside the text it begins: behind its quotation mark. */
  inset: number;
  /** Whether it is a part of a connection string, where a value may be short. */
  listed: boolean;
}

function valueAt(text: string, at: number, before: string): Value | undefined {
  QUOTED.lastIndex = at;
  const inside = QUOTED.exec(text)?.[2];
  if (inside !== undefined) return { text: inside, quoted: true, inset: 1, listed: false };
  const bare = before === '?' || before === '&' ? IN_ADDRESS : BARE;
  bare.lastIndex = at;
  const found = bare.exec(text)?.[0].replace(/[.,:?)]+$/, '');
  if (found === undefined || found === '') return undefined;
  const listed =
    before === ';' || /^;[\w ]{1,40}=/.test(text.slice(at + found.length, at + found.length + 50));
  return { text: found, quoted: false, inset: 0, listed };
}

const SHORTEST = 6;
/** `clé` and `key` are mostly about something else; only what can hardly be a word is taken for one. */
const WEAK = /^(?:cl[ée]s?|keys?)$/i;
const RANDOM = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[\w+/=-]{20,}$/;

/** In prose, "password: required" is about a password; a real value contains a digit or a symbol, or is quoted. */
function isValue(name: string, sign: string, { text, quoted, listed }: Value): boolean {
  if (text.startsWith(MASK) || /^\$|^%\w+%$/.test(text)) return false;
  if (WEAK.test(name)) return RANDOM.test(text);
  if (sign.includes('=') && listed) return true;
  if (text.length < SHORTEST) return false;
  if (sign.includes('=') || quoted) return true;
  return sign.includes(':') ? isStrange(text) : isStrangeWord(text);
}
