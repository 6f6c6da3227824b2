import { t } from '../text/message.ts';
import { BmadError } from '../errors.ts';
import { withoutEnd } from '../text/text.ts';
import { configValues, formatOf } from './config-scanner.ts';
import { isSecretName } from './names.ts';
import { byPattern, MASK, mapValues, masked, URL_CREDENTIALS, type Groups, type Rule } from './rules.ts';
import { hasPrivateKey, isNoSecretOf, PRIVATE_KEYS, TOKEN_SHAPES, VALUE, VALUES_APART } from './values.ts';

/**
 * All that masks text. The programs load it when something is masked for the first time (see LATE_MODULES in
 * scripts/bundle.ts): the tables of names and shapes are long, and many sessions never show a text that needs them.
 */
export { maskConfigSecrets } from './config-scanner.ts';
export { hasPrivateKey };

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
    throw new BmadError('invalid_input', t`The text contains a private key, which is never stored.`, {
      subject: 'text',
      hint: t`Describe where the key is kept instead.`,
    });
  return hidden(text, hide);
}

/** The text of another person's file, as it may be shown: its author cannot be asked to write it differently. */
export function shownText(text: string, hide: (text: string) => string): string {
  // The secrets of this environment may become more; what the rules find in a text stays the same.
  return shownProse(hide(masked(text, [PRIVATE_KEYS]).text));
}

const shownProse = remembering((text) => masked(text, IN_PROSE).text);

/** Refuses a name or a tag that is a secret: masked, it would say nothing. */
export function refuseSecret(text: string, subject: string, hide: (text: string) => string = String): void {
  const { found } = hasPrivateKey(text) ? { found: [t`a private key`] } : hidden(text, hide);
  if (found.length === 0) return;
  throw new BmadError('invalid_input', t`The value of ${subject} looks like ${found.join(', ')}.`, {
    subject,
    hint: t`Use a plain word; secrets are never stored.`,
  });
}

function hidden(text: string, hide: (text: string) => string): { text: string; found: string[] } {
  const own = hide(text);
  // What has nothing secret in it is known by its text.
  const { text: safe, found } = shownProse(own) === own ? { text: own, found: [] } : masked(own, IN_PROSE);
  return { text: safe, found: own === text ? found : [t`a secret of this environment`, ...found] };
}

/** What stands behind the name of a secret. A name that is none takes nothing away from what follows it. */
const NAMED_VALUES: Rule = {
  name: VALUE,
  *find(text) {
    // Most texts have none, and to make an expression takes as long as to look.
    if (text.search(NAMED) === -1) return;
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
const TOLD_VALUES: Rule = byPattern(VALUE, TOLD, ({ value = '' }) => {
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
  return isStrong(core) && !PATH.test(core);
}

/** The same where no sign says that a value follows, and the names of algorithms could. */
function isStrangeWord(text: string): boolean {
  const core = withoutEnd(text, '!');
  return core.length >= SHORTEST_TOLD && isStrange(text) && !ALGORITHM.test(core);
}

function isTold(value: string): boolean {
  return !value.startsWith(MASK) && isStrangeWord(value) && !SOMETHING_ELSE.test(value);
}

/** Texts together, and their characters: some megabytes. */
const MOST_TEXTS = 5_000;
const MOST_CHARACTERS = 1_000_000;

/** The same names and settings are shown again and again. Only texts are kept that have nothing secret in them. */
function remembering(mask: (text: string) => string): (text: string) => string {
  const plain = new Set<string>();
  let characters = 0;
  return (text) => {
    if (plain.has(text)) return text;
    const made = mask(text);
    if (made !== text) return made;
    characters += text.length;
    if (plain.size >= MOST_TEXTS || characters > MOST_CHARACTERS) {
      plain.clear();
      characters = text.length;
    }
    plain.add(text);
    return text;
  };
}

const IN_PROSE: readonly Rule[] = [
  URL_CREDENTIALS,
  ...TOKEN_SHAPES,
  ...VALUES_APART,
  NAMED_VALUES,
  TOLD_VALUES,
];

/** `name = "value"`, `name: 'value'`, `"name": "value"`; lengths are limited so that no text makes matching slow. */
const QUOTED_ASSIGNMENT =
  /(?<key>mot[ _-]de[ _-]passe|[\w$.-]{2,60})["'\]]{0,2}[ \t]{0,24}(?::[ \t]{0,4}\w{1,30}[ \t]{0,4})?(?:=>|:=|\?=|[:=])[ \t]{0,4}(?<quote>["'`])(?<value>(?:(?!\k<quote>)[^\n\\]|\\.){4,400})\k<quote>/gi;

/** The same without quotation marks, and what precedes it. */
const BARE_ASSIGNMENT =
  /(?<before>^|[^\w$.-])(?<dashes>-{0,2})(?<key>mot[ _-]de[ _-]passe|[\w$.-]{2,60})(?<sign>["'\]]{0,2}[ \t]{0,24}(?:=>|:=|\?=|[:=])[ \t]{0,4})(?<value>[^\s"'`,;<>{}()[\]&][^\s"'`,;<>{}()[\]&]{3,400})/gim;

/** `--password value`. */
const OPTION =
  /(?:^|[\s"'`])--?(?<key>[a-z][\w-]{1,60})[ \t]{1,4}(?<value>[^\s"'`,;<>{}()[\]&-][^\s"'`;<>{}]{3,400})/gim;

/** A key at the beginning of a line, whose value goes to the end of the line. */
const LINE =
  /^[ \t]*(?:(?:[#;]|\/\/|-|export|set|env)[ \t]+){0,4}(?<open>["']?)(?<key>mot[ _-]de[ _-]passe|[\w$.@/-]{2,120})(?<close>["']?)[ \t]{0,24}[:=][ \t]{0,8}(?<value>[^\s"'`#{[|>][^\n]{3,2000})$/gim;

/** `ENV DB_PASSWORD value` in a Dockerfile. */
const ENV_LINE = /^[ \t]*(?:ENV|ARG)[ \t]+(?<key>[\w.-]{2,60})[ \t]+(?<value>[^\s="'$][^\n]{3,400})$/gim;

const ELEMENT = /<(?<key>[\w.:-]{2,60})(?:\s[^<>\n]{0,200})?>(?<value>[^<>\n]{4,400})(?=<\/)/g;

/** A text that goes over the next, deeper lines: `password: |`. */
const BLOCK = /^([ \t]*)(?:-[ \t]+)*["']?([\w.$-]{2,60})["']?[ \t]*:[ \t]*[|>][-+\d]{0,3}[ \t]*(?:#.*)?\r?$/;

/** Languages in which a word without quotation marks is the name of something, not a value. */
const CODE =
  /\.(?:[mc]?tsx?|[mc]?jsx?|pyi?|go|rs|java|cs|cpp|cc|cxx|hpp|hh|hxx|c|h|php|rb|rake|ps1|psm1|kts?|swift|scala|dart|lua|exs?|hs|pl|pm|r|sql|vue|svelte|css|scss|less|html?|xhtml|graphql|gql|proto|tf|hcl|groovy|gradle|zig|clj|erl|ml|fs|vb|m|mm)$/i;
const PROSE = /\.(?:md|mdx|markdown|txt|rst|adoc|org|log)$/i;
/** A value ends with a blank in these, as a command may follow. */
const SHELL =
  /\.(?:sh|bash|zsh|fish|ksh|bat|cmd|mk)$|(?:^|\/)(?:[^/.]*|Dockerfile[^/]*|Makefile[^/]*)$|\.dockerfile$/i;

/**
 * Masks anything that looks like a secret in a file; the rest, and the number of lines, does not change. The path
 * decides how careful to be: a bare word is a value in a configuration file, but a name in code.
 */
export function maskCodeSecrets(text: string, path = 'code.ts'): string {
  return masked(text, [...EVERYWHERE, ...rulesFor(path)]).text;
}

function rulesFor(path: string): readonly Rule[] {
  if (CODE.test(path)) return IN_CODE;
  if (PROSE.test(path)) return IN_DOCUMENTS;
  const format = formatOf(path);
  // Texts for people are kept in JSON too, and many are about passwords.
  const walk = format === undefined || format === 'json' ? [] : [configValues(format)];
  // The others are for what no format knows: commands inside of values, templates, and texts that are not correct.
  return [...QUOTED_VALUES, BLOCKS, ...walk, ...(SHELL.test(path) ? [] : [WHOLE_LINES]), ...ASSIGNED];
}

const isSecret = ({ key = '', value = '' }: Groups): boolean =>
  isSecretName(key) && value.length >= 4 && !isNoSecretOf(key, value) && !isAboutOne(value);

/** `${TOKEN:?a message}` has a message where others have a value, and `${TOKEN:-***}` one that is masked already. */
const isBare = (found: Groups): boolean =>
  isSecret(found) && !(found['before'] === '{' && /^(?:\?|[-=]\*)/.test(found['value'] ?? ''));

/** Messages and labels speak of secrets, and are none. */
const isNoSentence = ({ key = '', value = '' }: Groups): boolean =>
  isSecretName(key) && !isNoSecretOf(key, value) && !isAboutOne(value) && !isSentence(value);

/** The same in code, where an expression may be inside of a text. */
const isNoExpression = (found: Groups): boolean =>
  isNoSentence(found) &&
  !/^(?:\$[{(]|\{\{|process\.env\.|os\.environ|import\.meta\.)/.test(found['value'] ?? '');

/** In capitals it says what to put there: `--token TOKEN`. */
const isOption = (found: Groups): boolean => isSecret(found) && !/^[A-Z_]+$/.test(found['value'] ?? '');

const EVERYWHERE: readonly Rule[] = [
  URL_CREDENTIALS,
  PRIVATE_KEYS,
  ...TOKEN_SHAPES,
  ...VALUES_APART,
  byPattern(VALUE, ELEMENT, ({ key, value }) => isNoSentence({ key, value: value?.trim() })),
];

const QUOTED_VALUES: readonly Rule[] = [byPattern(VALUE, QUOTED_ASSIGNMENT, isNoSentence)];

/** Only what cannot be a name, a call or a type: a part of a text such as `"Password=abc;"`, or letters after digits. */
const IN_CODE: readonly Rule[] = [
  byPattern(VALUE, QUOTED_ASSIGNMENT, isNoExpression),
  byPattern(VALUE, BARE_ASSIGNMENT, (found) => {
    const { before = '', dashes, key = '', sign, value = '' } = found;
    if (!isBare(found)) return false;
    const tight = sign === '=' && (/[;"'`&?]/.test(before) || /^[A-Z\d_]+$/.test(key) || dashes !== '');
    return tight ? /\d/.test(value) || /[;&?]/.test(before) : isOpaque(value);
  }),
  byPattern(VALUE, OPTION, (found) => isOption(found) && /\d/.test(found['value'] ?? '')),
];

const IN_DOCUMENTS: readonly Rule[] = [
  ...QUOTED_VALUES,
  byPattern(VALUE, BARE_ASSIGNMENT, (found, match) => {
    const { sign = '', value = '' } = found;
    if (!isBare(found)) return false;
    return sign.includes('=') || isStrong(value) || (value.length >= 8 && isLastOfLine(match));
  }),
  byPattern(VALUE, OPTION, (found) => isOption(found) && isStrong(found['value'] ?? '')),
];

const ASSIGNED: readonly Rule[] = [
  byPattern(VALUE, ENV_LINE, upToEnd),
  byPattern(VALUE, BARE_ASSIGNMENT, isBare),
  byPattern(VALUE, OPTION, isOption),
];

function isLastOfLine({ 0: whole, index, input }: RegExpExecArray): boolean {
  const end = index + whole.length;
  return /^[ \t\r`'"]*(?:\n|$)/.test(input.slice(end, end + 10));
}

const BLOCKS: Rule = {
  name: VALUE,
  *find(text) {
    let deeper: number | undefined;
    let start = 0;
    for (const line of text.split('\n')) {
      const indent = /^[ \t]*/.exec(line)?.[0].length ?? 0;
      const isBlank = line.trim() === '';
      if (deeper === undefined || (!isBlank && indent <= deeper)) {
        const [, blanks = '', name = ''] = BLOCK.exec(line) ?? [];
        deeper = isSecretName(name) ? blanks.length : undefined;
      } else if (!isBlank) yield [start + indent, start + line.trimEnd().length];
      start += line.length + 1;
    }
  },
};

const WHOLE_LINES = byPattern(VALUE, LINE, upToEnd);

/** What looks like a comment may be part of the value. */
function upToEnd({ key, open = '', close, value = '' }: Groups): string | false {
  const line = withoutEnd(value, ' \t\r').replace(/,$/, '');
  // The quotation mark before the key is closed behind the value: `- "TOKEN=abc"`.
  const kept = open !== '' && close === '' && line.endsWith(open) ? line.slice(0, -1) : line;
  return isSecret({ key, value: kept }) && kept;
}

/** A comparison, a tag of YAML, what was masked already, or the scheme of a header without its value. */
function isAboutOne(value: string): boolean {
  return /^(?:[*=].*|![A-Za-z]+ .*|(?:basic|bearer|token|digest)(?: (?:\*+|\$\{[^}]*\}|\{\w*\}|<[^>]*>|%s))?)$/is.test(
    value,
  );
}

/** Words of messages and labels. A pass phrase has blanks too, but hardly two of them. */
const SENTENCE =
  /(?:^|[^\p{L}\p{N}])(?:the|an?|is|are|was|be|must|should|cannot|not|no|your|you|to|of|for|in|with|and|or|please|enter|missing|required|invalid|passwords?|tokens?|secrets?|key|le|la|les|un|une|est|votre|mot|de|du|pour)(?=$|[^\p{L}\p{N}])/giu;

function isSentence(value: string): boolean {
  return /\s/.test(value) && (value.match(SENTENCE)?.length ?? 0) >= 2;
}

/** In prose, "password: required" is about a password. */
function isStrong(value: string): boolean {
  return (/\d/.test(value) && /[A-Za-z]/.test(value)) || /[!@#$%^&*+]/.test(value);
}

/** Starts unlike any name, and is not a number. */
function isOpaque(value: string): boolean {
  return (
    /^\d/.test(value) &&
    value.length >= 8 &&
    /[a-z]/i.test(value) &&
    !/^(?:0x[\da-f_]+|[\d_.]+(?:e[-+]?\d+)?\w{0,3})$/i.test(value)
  );
}

/**
 * Masks what is secret in a table that has been parsed already: at any depth the values of secret-looking keys, and what
 * looks like a key or token of a well-known service.
 */
export function maskSecretValues(value: unknown): unknown {
  if (typeof value === 'string') return maskedText(value);
  if (Array.isArray(value)) return value.map(maskSecretValues);
  const mask = (inner: unknown, key: string): unknown =>
    isSecretName(key) ? secretValue(inner, key) : maskSecretValues(inner);
  return mapValues(value, mask) ?? value;
}

const maskedText = remembering((text) => masked(text, [URL_CREDENTIALS, ...TOKEN_SHAPES]).text);

function secretValue(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((item) => secretValue(item, name));
  if (value === null || typeof value === 'boolean') return value;
  const isText = typeof value === 'string' || typeof value === 'number';
  if (isText && isNoSecretOf(name, `${value}`)) return value;
  return mapValues(value, (inner) => secretValue(inner, name)) ?? MASK;
}
