import { byPattern, type Rule, type Span } from './rules.ts';
import { isSecretName } from './secret-names.ts';
import { withoutEnd, withoutStart } from '../text/ends.ts';

/**
 * What keys and tokens of well-known services look like, for everything that keeps or shows text. Lengths are limited,
 * so that no text makes matching slow.
 */
const TOKEN_PATTERNS: readonly (readonly [
  name: string,
  pattern: RegExp,
  is?: (token: string, match: RegExpExecArray) => boolean,
])[] = [
  ['a GitHub token', /\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255})/g],
  ['a GitLab token', /\bgl(?:pat|ptt|dt|rt|cbt|soat)-[\w-]{16,255}/g],
  ['an npm token', /\bnpm_[A-Za-z0-9]{30,255}/g],
  // A digit is asked for where only letters and dashes would also be a name, such as `sk-loading-indicator-wrapper`.
  ['an API key', /\b[sr]k-[\w-]{16,255}/g, (key) => /\d|^sk-(?:proj|ant|or)-/.test(key)],
  ['a Stripe key', /\b(?:[sr]k|whsec)_(?:live_|test_)?(?=\w{0,250}\d)[A-Za-z0-9]{16,255}/g],
  ['a Hugging Face token', /\bhf_[A-Za-z0-9]{20,255}/g],
  ['a Slack token', /\bxox[a-z](?:\.xox[a-z])?-[\w-]{10,255}|\bxapp-[\w-]{10,255}/g],
  ['a Slack webhook', /(?<=\bhooks\.slack\.com\/(?:services|workflows|triggers)\/)[\w/-]{10,255}/g],
  ['a SendGrid key', /\bSG\.[\w-]{16,64}\.[\w-]{16,128}/g],
  ['a Discord token', /\b[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,45}(?![\w.-])/g],
  ['a Discord webhook', /(?<=\bdiscord(?:app)?\.com\/api\/webhooks\/)\d{15,22}\/[\w-]{20,255}/g],
  [
    'credentials in a command',
    /[ \t](?:-u|--user)[ \t=]?["']?[\w.@+-]{1,60}:(?<value>[^\s"'`$*][^\s"'`]{2,255})/g,
    (_, { input, index }) => FETCHES.test(input.slice(Math.max(0, index - 200), index)),
  ],
  ['an AWS key', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g],
  ['an age key', /\bAGE-SECRET-KEY-1[0-9A-Z]{20,255}/gi],
  ['a Google key', /\bAIza[\w-]{30,255}/g],
  ['a bearer token', /(?<=\bBearer[ \t]{1,3})[\w.~+/-]{16,4000}={0,2}/gi],
  [
    'basic credentials',
    /(?<=\bAuthorization["']?[ \t]{0,3}[:=][ \t]{0,3}["']?Basic[ \t]{1,3})[\w+/-]{6,4000}={0,2}/gi,
  ],
  [
    'credentials in a header',
    /(?<=\bAuthorization["']?[ \t]{0,3}[:=][ \t]{0,3}["']?(?:Bearer|Token)[ \t]{1,3})[\w.~+/-]{6,4000}={0,2}/gi,
  ],
];

/** A program that fetches, earlier in the same command. */
const FETCHES = /\b(?:curl|wget|https?)\b[^\n|;]*$/;

/**
 * Three parts with dots between them, the first of which is an object in Base64. An expression would look at the same
 * characters again from every `eyJ` in them; here the end of a part is looked for once.
 */
const WEB_TOKENS: Rule = {
  name: 'a JSON web token',
  *find(text) {
    const ends = new Map<number, number>();
    /** Behind the part that begins here, or goes on here. */
    const endOf = (start: number): number => {
      const known = ends.get(start);
      if (known !== undefined) return known;
      PART.lastIndex = start;
      const end = start + (PART.exec(text)?.[0].length ?? 0);
      ends.set(start, end);
      return end;
    };
    let first = 0;
    for (let start = text.indexOf('eyJ'); start !== -1; start = text.indexOf('eyJ', start + 3)) {
      if (start >= first) first = endOf(start);
      if (/\w/.test(text.charAt(start - 1)) || first - start < 11 || text[first] !== '.') continue;
      const second = endOf(first + 1);
      if (second - first <= 8 || text[second] !== '.') continue;
      const third = endOf(second + 1);
      if (third - second <= 5) continue;
      yield [start, third];
      start = third - 3;
    }
  },
};
const PART = /[\w-]*/y;

/** What is known by its look. */
export const TOKEN_SHAPES: readonly Rule[] = [
  WEB_TOKENS,
  ...TOKEN_PATTERNS.map(([name, pattern, is]) =>
    byPattern(name, pattern, (_, match) => is === undefined || is(match[0], match)),
  ),
];

const BEGIN = /-{4,5} ?BEGIN (?:[A-Z0-9]{1,20} ){0,5}PRIVATE KEY(?: BLOCK)? ?-{4,5}/;
const END = /-{4,5} ?END (?:[A-Z0-9]{1,20} ){0,5}PRIVATE KEY(?: BLOCK)? ?-{4,5}/g;

export function hasPrivateKey(text: string): boolean {
  return BEGIN.test(text);
}

/** Longer than any key there is: code that names the first line of a key here and the last one far away has none. */
const LONGEST_KEY = 60_000;
/** A line of a key without an end: Base64 or a header, perhaps quoted, indented or commented. */
const KEY_LINE = /^(?:\/\/ ?)?(?:[\w-]{3,30}: .*|(?:[A-Za-z0-9+/=]|\\[nr])*)$/;
const LONGEST_LINE = 1_000;

function isKeyLine(line: string): boolean {
  if (line.length > LONGEST_LINE) return false;
  return KEY_LINE.test(withoutEnd(withoutStart(line, ' \t\r"\'`+#*|>,\\'), ' \t\r"\'`+,;)\\'));
}

/** The inside of private keys. Line breaks stay, so that the lines of a file keep their numbers. */
export const PRIVATE_KEYS: Rule = {
  name: 'a private key',
  *find(text) {
    const begins = new RegExp(BEGIN, 'g');
    let end: RegExpExecArray | null | undefined;
    for (let begin = begins.exec(text); begin !== null; begin = begins.exec(text)) {
      const start = begin.index + begin[0].length;
      // Looked for once per end, not once per beginning: a text may have thousands of beginnings.
      if (end === undefined || (end !== null && end.index < start)) {
        END.lastIndex = start;
        end = END.exec(text);
      }
      const closed = end !== null && end.index - start <= LONGEST_KEY;
      const stop = closed && end !== null ? end.index : openEnd(text, start);
      yield* keyLines(text.slice(start, stop), start);
      begins.lastIndex = stop;
    }
  },
};

function openEnd(text: string, start: number): number {
  let at = start;
  // What follows on the same line is code, as in a test for this very line, unless it can be a key.
  for (let first = true; at < text.length; first = false) {
    const found = text.indexOf('\n', at);
    const next = found === -1 ? text.length : found;
    const line = text.slice(at, next);
    if (!isKeyLine(line)) return first ? at : at - 1;
    if (found === -1) return text.length;
    at = next + 1;
  }
  return Math.max(start, at - 1);
}

function* keyLines(inside: string, from: number): Generator<Span> {
  for (const { 0: line, index } of inside.matchAll(/[^\s"'`][^\n]*/g))
    if (/[A-Za-z0-9]/.test(line)) yield [from + index, from + index + line.length];
}

const MORE_WORDS = new Set(['pass', 'mdp', 'motdepasse', 'authtoken', 'passcode', 'jeton']);
const MORE_PAIRS = new Set([
  'account key',
  'shared key',
  'mot passe',
  'mots passe',
  'cle api',
  'cle acces',
  'cle secrete',
  'cle privee',
  'cle chiffrement',
  'cle signature',
  'jeton acces',
  'jeton api',
]);
/** Between the words of a French name: `clé d'API`, `jeton de l'API`. */
const PARTICLES = new Set(['d', 'de', 'des', 'du', 'l', 'la', 'le']);

/** What is secret by its name, in French too: `DB_PASS`, `AccountKey`, `motDePasse`, `mdp`, `clé d'API`, `jeton`. */
export function namesSecret(name: string): boolean {
  if (isSecretName(name)) return true;
  const words = name
    .normalize('NFD')
    .replace(/[\u0300-\u036F]/g, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '' && !PARTICLES.has(word));
  // In French, what it is for comes after it: `MDP_BASE`.
  if (words.includes('mdp')) return true;
  return MORE_WORDS.has(words.at(-1) ?? '') || MORE_PAIRS.has(words.slice(-2).join(' '));
}
