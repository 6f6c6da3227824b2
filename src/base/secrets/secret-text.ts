import { BmadError } from '../errors.ts';
import { VALUES_APART } from './apart-rules.ts';
import { MASK, masked, type Rule } from './rules.ts';
import { isSecretName, URL_CREDENTIALS } from './secret-names.ts';
import { isStrange, isStrangeWord, TOLD_VALUES } from './secret-sentences.ts';
import { hasPrivateKey, PRIVATE_KEYS, TOKEN_SHAPES } from './secret-shapes.ts';
import { isNoSecretOf } from './secret-values.ts';
import { remembering } from '../remembering.ts';
import { withoutEnd } from '../text/ends.ts';

/**
 * What may be the name of a secret, and a sign or word after it that a value follows: `password=`, `"api_key": `,
 * `mot de passe : `, `the token is `. French puts a blank, often one that does not break, before the colon.
 */
const NAMED =
  /(?<![\p{L}\p{N}_.-])(mots?[ _-]de[ _-]passe|cl[ée]s?[ _-](?:d['’]|de[ _])?(?:api|acc[eè]s|secr[eè]te|priv[ée]e|chiffrement|signature)|jetons?[ _-](?:d['’])?(?:api|acc[eè]s)|(?:api|access|account|secret|private|shared|auth|signing|encryption)[ _-]?key|[\p{L}\p{N}_.-]{2,120})(["'\]]{0,2})([ \t\u00A0\u202F]{0,24}[=:][ \t\u00A0\u202F]{0,3}|[ \t]{1,3}(?:is|est|vaut)[ \t]{1,3})/giu;
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
  return hidden(text, hide);
}

/** The text of another person's file, as it may be shown: its author cannot be asked to write it differently. */
export function shownText(text: string, hide: (text: string) => string): string {
  // The secrets of this environment may become more; what the rules find in a text stays the same.
  return shownProse(hide(masked(text, [PRIVATE_KEYS]).text));
}

/** The same names and tags are shown again and again. */
const shownProse = remembering((text) => masked(text, IN_PROSE).text);

/** Refuses a name or a tag that is a secret: masked, it would say nothing. */
export function refuseSecret(text: string, subject: string, hide: (text: string) => string = String): void {
  const { found } = hasPrivateKey(text) ? { found: ['a private key'] } : hidden(text, hide);
  if (found.length === 0) return;
  throw new BmadError('invalid_input', `The value of ${subject} looks like ${found.join(', ')}.`, {
    subject,
    hint: 'Use a plain word; secrets are never stored.',
  });
}

function hidden(text: string, hide: (text: string) => string): { text: string; found: string[] } {
  const own = hide(text);
  const { text: safe, found } = masked(own, IN_PROSE);
  return { text: safe, found: own === text ? found : ['a secret of this environment', ...found] };
}

/** What stands behind the name of a secret. A name that is none takes nothing away from what follows it. */
const NAMED_VALUES: Rule = {
  name: 'the value of a secret',
  *find(text) {
    const names = new RegExp(NAMED);
    for (let named = names.exec(text); named !== null; named = names.exec(text)) {
      const [, name = '', , sign = ''] = named;
      const start = names.lastIndex;
      // A name may begin inside what was taken for a sign: `x is password=…`.
      if (!isSecretName(name) && !WEAK.test(name)) names.lastIndex = named.index + name.length;
      else {
        const value = valueAt(text, start, text.charAt(named.index - 1));
        if (value === undefined || !isValue(name, sign, value)) continue;
        names.lastIndex = start + value.inset + value.text.length;
        yield [start + value.inset, names.lastIndex];
      }
    }
  },
};

const IN_PROSE: readonly Rule[] = [
  URL_CREDENTIALS,
  ...TOKEN_SHAPES,
  ...VALUES_APART,
  NAMED_VALUES,
  TOLD_VALUES,
];

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
  const found = withoutEnd(bare.exec(text)?.[0] ?? '', '.,:?)');
  if (found === '') return undefined;
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
  if (text.startsWith(MASK) || isNoSecretOf(name, text)) return false;
  if (WEAK.test(name)) return RANDOM.test(text);
  if (sign.includes('=') && listed) return true;
  if (text.length < SHORTEST) return false;
  if (sign.includes('=') || quoted) return true;
  return sign.includes(':') ? isStrange(text) : isStrangeWord(text);
}
