import { BmadError } from '../errors.ts';
import { VALUES_APART } from './apart-rules.ts';
import { MASK, byPattern, masked, type Rule } from './rules.ts';
import { URL_CREDENTIALS, isSecretName } from './secret-names.ts';
import { PRIVATE_KEYS, TOKEN_SHAPES, hasPrivateKey } from './secret-shapes.ts';
import { isNoSecretOf } from './secret-values.ts';
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

/**
 * Sentences with words between the name of a secret and its value: `the password for the database is …`, `mot de passe
 * admin : …`, `password '…' for root`. In English a linking word has to come first, since a noun makes it about
 * something else: a password manager, a token type. Lengths are limited, so that no text makes matching slow.
 */
const BLANK = '[ \\t\\u00A0\\u202F]';
const WORDS = `(?:${BLANK}{1,3}[\\p{L}\\p{N}_./'’()-]{1,30})`;
const ENGLISH =
  'passwords?|passwd|pwd|passphrase|passcode|credentials?|(?:(?:api|auth|bot|access|refresh)[ _-])?token|secret|(?:api|access|secret|private|shared|auth|signing|encryption)[ _-]?key';
const LINK = 'for|of|on|in|at|to|from|by|we|i|you|they|that|which|used|here|now|\\([^()\\n]{1,30}\\)';
const FRENCH =
  "mots?[ _-]de[ _-]passe|mdp|cl[ée]s?[ _-](?:d['’]|de[ _])?(?:api|acc[eè]s|secr[eè]te|priv[ée]e|chiffrement|signature)|jetons?(?:[ _-](?:d['’])?(?:api|acc[eè]s))?";
const SIGN = `(?:${BLANK}{0,3}[=:](?![=:>~])|${BLANK}{1,3}(?:is|was|are|est|était|sera|vaut|c['’]est)(?:${BLANK}?:)?(?=${BLANK}))`;
export const TOLD = new RegExp(
  `(?<![\\p{L}\\p{N}_.-])(?:` +
    `(?:(?:${ENGLISH})(?:${BLANK}{1,3}(?:${LINK})(?!\\p{L})${WORDS}{0,4}?)?|(?:${FRENCH})${WORDS}{0,5}?)${SIGN}${BLANK}{0,3}["'\`«]?` +
    `|(?:${ENGLISH}|${FRENCH})${BLANK}{1,3}["'\`«]` +
    `)${BLANK}?(?<value>[^\\s"'\`,;<>{}»]{6,500})`,
  'giu',
);

/** The values that sentences tell. */
const TOLD_VALUES: Rule = byPattern('the value of a secret', TOLD, ({ value = '' }) => {
  const told = withoutEnd(value, '.,:?)');
  return isTold(told) && told;
});

const SHORTEST_TOLD = 8;
/** `sha256-hashed`, `argon2id`, `base64-encoded`. */
const ALGORITHM = /^[a-z]+-?\d{1,3}[a-z]{0,3}(?:[-_.][a-z]+)*$/i;
const PATH = /^[a-z][a-z0-9._-]*(?:\/[a-z0-9._-]+)+$/;
/** Addresses, places, calls, variables, amounts, days, and a program that keeps passwords. */
const SOMETHING_ELSE = /^[.~]?\/|:\/\/|[()[\]]|^\$|^%\w+%$|^\d+[a-z]{0,12}$|^\d[\d./:TZ-]+$|^1password$/i;

/** Whether it can hardly be a word of a sentence: it has a digit among letters, or a sign. */
function isStrange(text: string): boolean {
  const core = withoutEnd(text, '!');
  const strange = (/\d/.test(core) && /[A-Za-z]/.test(core)) || /[!@#$%^&*+]/.test(core);
  return strange && !PATH.test(core);
}

/** The same where no sign says that a value follows, and the names of algorithms could. */
function isStrangeWord(text: string): boolean {
  const core = withoutEnd(text, '!');
  return core.length >= SHORTEST_TOLD && isStrange(text) && !ALGORITHM.test(core);
}

function isTold(value: string): boolean {
  return !value.startsWith(MASK) && isStrangeWord(value) && !SOMETHING_ELSE.test(value);
}

/** Characters of all texts together: some megabytes. */
const MOST_CHARACTERS = 1_000_000;

/** A function of a text that is asked for the same texts again within one piece of work; the last few answers are kept. */
function remembering<T>(make: (text: string) => T, most = 300): (text: string) => T {
  const known = new Map<string, T>();
  let characters = 0;
  return (text) => {
    if (known.has(text)) return known.get(text) as T;
    characters += text.length;
    if (known.size >= most || characters > MOST_CHARACTERS) {
      known.clear();
      characters = text.length;
    }
    const made = make(text);
    known.set(text, made);
    return made;
  };
}

const IN_PROSE: readonly Rule[] = [
  URL_CREDENTIALS,
  ...TOKEN_SHAPES,
  ...VALUES_APART,
  NAMED_VALUES,
  TOLD_VALUES,
];
