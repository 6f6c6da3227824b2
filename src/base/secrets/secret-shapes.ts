import { byPattern, type Rule, type Span } from './rules.ts';
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
    (_, { input, index }) => isFetched(input.slice(Math.max(0, index - 200), index)),
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
  ['an AI service key', /\b(?:gsk_|xai-|pplx-|r8_)[A-Za-z0-9]{20,255}/g],
  ['a PyPI token', /\bpypi-[\w-]{16,500}/g],
  ['a Docker token', /\bdckr_(?:pat|oat)_[\w-]{16,255}/g],
  ['a DigitalOcean token', /\bdo[opr]_v1_[a-f0-9]{32,128}/g],
  ['a Shopify token', /\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{24,64}/g],
  ['a Vault token', /\bhv[sbr]\.[\w-]{20,255}/g],
  ['a Databricks token', /\bdapi[a-f0-9]{32}\b/g],
  ['a Grafana token', /\bgl(?:sa|c)_[\w=+/-]{20,255}/g],
  ['a Linear key', /\blin_(?:api|oauth)_[A-Za-z0-9]{20,255}/g],
  ['a Figma token', /\bfig[dou]r?_[\w-]{20,255}/g],
  ['a Notion token', /\bntn_[A-Za-z0-9]{20,255}/g],
  ['a Postman key', /\bPMAK-[a-f0-9-]{20,255}/g],
  ['a New Relic key', /\bNRAK-[A-Z0-9]{20,64}/g],
  ['a Telegram token', /\b\d{8,10}:AA[\w-]{30,64}/g],
  ['a Mailgun key', /\bkey-[a-f0-9]{32}\b/g],
  ['a Google secret', /\bGOCSPX-[\w-]{16,64}|\bya29\.[\w-]{16,500}/g],
  ['a Supabase token', /\bsbp_[a-f0-9]{32,64}\b/g],
  ['a signature in a URL', /(?<=[?&](?:sig|X-Amz-Signature|X-Goog-Signature)=)[\w%+/=-]{10,600}/gi],
  [
    'a password hash',
    /\$(?:2[abxy]\$\d\d\$[\w./]{40,60}|[156]\$(?:rounds=\d{1,9}\$)?[\w./]{1,16}\$[\w./]{20,90}|argon2(?:id|i|d)\$[\w$,=+/-]{20,300})/g,
  ],
  // `machine … login … password …` in a .netrc, on one line or on three.
  [
    'the password of a machine',
    /\b(?:machine\s{1,20}\S{1,200}|default)\s{1,20}login\s{1,20}\S{1,200}\s{1,20}password\s{1,20}(?<value>\S{3,255})/g,
  ],
  // `host:port:database:user:password` in a .pgpass.
  [
    'the password of a database',
    /^(?:[\w.*-]{1,200}):(?:\d{4,5}|\*):[\w.*-]{1,100}:[\w.*-]{1,100}:(?<value>\S{3,255})$/gm,
    (line) => !line.endsWith(':password') && /[a-z*]/i.test(line.split(':')[2] ?? ''),
  ],
  [
    'the password of a server',
    /^[ \t]{0,20}(?:requirepass|masterauth|rootpw)[ \t]{1,10}["']?(?<value>[^\s"'{]{3,255})/gm,
  ],
  [
    'the password of a user',
    /^user[ \t]\S{1,100}[ \t](?:on|off)[ \t](?:[^\n>]{0,100}[ \t])?>(?<value>\S{3,255})/gm,
  ],
  ['a password in a command', /\bsshpass[ \t]{1,4}-p[ \t]{0,4}["']?(?<value>[^\s"'`$<{][^\s"'`]{2,255})/g],
  [
    'a password in a command',
    /[ \t]-p[ \t]?["']?(?<value>[^\s"'`$<{=-][^\s"'`]{2,255})/g,
    (option, { input, index }) => {
      const before = input.slice(Math.max(0, index - 200), index);
      const command = before.slice(Math.max(before.lastIndexOf('\n'), before.lastIndexOf(';')) + 1);
      // For MySQL a blank means that the password is to be asked for.
      return /^[ \t]-p[ \t]/.test(option)
        ? /\b(?:docker|podman) login\b/.test(command)
        : /\b(?:mysql|mysqldump|mysqladmin|mariadb)\b/.test(command);
    },
  ],
  // The login and the password as npm and Docker keep them.
  [
    'basic credentials',
    /(?<![\w-])_?auth["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?<value>[A-Za-z0-9+/]{8,500}={0,2})/g,
    isLoginAndPassword,
  ],
];

/** `bmFtZTpwYXNzd29yZA==` is `name:password`. */
function isLoginAndPassword(_: string, { groups }: RegExpExecArray): boolean {
  const text = Buffer.from(groups?.['value'] ?? '', 'base64').toString('latin1');
  return /^[\x20-\x7E]+$/.test(text) && text.indexOf(':') > 0 && !text.endsWith(':');
}

/** Whether the command so far begins with a program that fetches. */
function isFetched(before: string): boolean {
  const command = before.split(/[\n|;]/).at(-1) ?? '';
  return /\b(?:curl|wget|https?)\b/.test(command);
}

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
