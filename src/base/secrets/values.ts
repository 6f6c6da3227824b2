import references from '../../../assets/secrets/references.json' with { type: 'json' };
import shapes from '../../../assets/secrets/shapes.json' with { type: 'json' };
import { withoutEnd, withoutStart } from '../text/text.ts';
import { isSecretName } from './names.ts';
import { byPattern, type Groups, type Rule, type Span } from './rules.ts';

export const VALUE = 'the value of a secret';

/** Switches, and what says that there is no value, or where it comes from. */
const NOTHING =
  /^(?:|true|false|yes|no|on|off|null|nil|none|undefined|~|""|''|\[\s*\]|\{\s*\}|inherit|enabled|disabled|required|optional|read|write)$/i;

/**
 * What stands for a value that is kept elsewhere. Each is asked for as a whole, so that a secret beside a reference, or
 * as its default, is none of these. A default that was masked already (`${TOKEN:-***}`) is.
 */
export const REFERENCES: readonly RegExp[] = references.flatMap(({ patterns }) =>
  patterns.map((pattern) => new RegExp(pattern)),
);

const SCHEME = /^(?:basic|bearer|token|digest) /i;

/** Whether a value under the name of a secret is none: nothing, a switch, or a reference to where it is kept. */
export function isNoSecret(value: string): boolean {
  if (NOTHING.test(value)) return true;
  const scheme = SCHEME.exec(value)?.[0].length ?? 0;
  const asked = value.slice(scheme);
  return REFERENCES.some((reference) => reference.test(asked));
}

/**
 * The same with its name: tests pass too, so under `pass` a small number or a sentence is about them
 * (`pass: 12`, `pass: all tests are green`).
 */
export function isNoSecretOf(name: string, value: string): boolean {
  if (isNoSecret(value)) return true;
  return /^pass$/i.test(name) && (/^\d{1,3}$/.test(value) || value.split(' ').length > 2);
}

/** What a pattern alone cannot say, by the name that the table has for it. */
const CHECKS: Readonly<Record<string, (found: RegExpExecArray) => boolean>> = {
  // Only letters and dashes would also be a name, such as `sk-loading-indicator-wrapper`.
  digit: ([key]) => /\d|^sk-(?:proj|ant|or)-/.test(key),
  fetched: ({ input, index }) =>
    /\b(?:curl|wget|https?)\b/.test(
      input
        .slice(Math.max(0, index - 200), index)
        .split(/[\n|;]/)
        .at(-1) ?? '',
    ),
  // `host:port:database:user:password` in a .pgpass.
  database: ([line]) => !line.endsWith(':password') && /[a-z*]/i.test(line.split(':')[2] ?? ''),
  command: ({ 0: option, input, index }) => {
    const before = input.slice(Math.max(0, index - 200), index);
    const command = before.slice(Math.max(before.lastIndexOf('\n'), before.lastIndexOf(';')) + 1);
    // For MySQL a blank means that the password is to be asked for.
    return /^[ \t]-p[ \t]/.test(option)
      ? /\b(?:docker|podman) login\b/.test(command)
      : /\b(?:mysql|mysqldump|mysqladmin|mariadb)\b/.test(command);
  },
  // `bmFtZTpwYXNzd29yZA==` is `name:password`, as npm and Docker keep them.
  login: ({ groups }) => {
    const text = Buffer.from(groups?.['value'] ?? '', 'base64').toString('latin1');
    return /^[\x20-\x7E]+$/.test(text) && text.indexOf(':') > 0 && !text.endsWith(':');
  },
};

/**
 * What keys and tokens of well-known services look like, for everything that keeps or shows text. Lengths are limited,
 * so that no text makes matching slow.
 */
export const SHAPES: readonly { name: string; pattern: RegExp; check?: string }[] = shapes.map(
  ({ pattern, flags = 'g', ...shape }) => ({ ...shape, pattern: new RegExp(pattern, flags) }),
);

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
  ...SHAPES.map(({ name, pattern, check }) =>
    byPattern(name, pattern, (_, match) => check === undefined || CHECKS[check]?.(match) === true),
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

const isApart = ({ key = '', value = '' }: Groups): boolean =>
  isSecretName(key) && value.length >= 3 && !isNoSecretOf(key, value);

/** In capitals it says what to put there: `"--token", "TOKEN"`. */
const isArgument = (found: Groups): boolean =>
  isApart(found) && !/^(?:[A-Z_]+|-.*)$/.test(found['value'] ?? '');

/** The name and the value apart: `name: DB_PASSWORD` and `value: …` on the next line, `key="Password" value="…"`. */
const NAMED =
  /\b(?:name|key)["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?<key>[\w.:-]{2,60})["']?,?[ \t]{0,4}(?:\r?\n[ \t]{0,40})?["']?\bvalue["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?<value>[^\s"'<>][^"'\n<>\r]{3,400})/gi;

/** An option and its value in a list of arguments: `["--token", "…"]`. */
const ARGUMENT =
  /["']--?(?<key>[a-z][\w-]{1,60})["'][ \t]{0,4},\s{0,60}["'](?<value>[^"'\n]{3,400})(?=["'])/gi;

/** The same one below the other: `- --token`, `- …`. */
const LISTED_ARGUMENT =
  /^[ \t]{0,40}-[ \t]{1,4}["']?--?(?<key>[a-z][\w-]{1,60})["']?[ \t]{0,4}\r?\n[ \t]{0,40}-[ \t]{1,4}["']?(?<value>[^\s"'][^"'\n\r]{2,400})/gim;

/** `define('DB_PASSWORD', '…')`. */
const DEFINED =
  /\bdefine[ \t]{0,4}\([ \t]{0,4}["'](?<key>\w{2,60})["'][ \t]{0,4},[ \t]{0,4}(?:'(?=[^'\n]{3,400}')|"(?=[^"\n]{3,400}"))(?<value>[^'"\n]{3,400})/g;

/** What is used where a variable has no value: `${DB_PASSWORD:-…}` in a shell and in Compose, `${db.password:…}` in Spring. */
const DEFAULT = /\$\{(?<key>[\w.]{2,60})(?::-|:=|[-=:])(?<value>[^}\s?+=*$-][^}\n]{2,200})(?=\})/g;

const KIND = /^kind:[ \t]*["']?Secret["']?[ \t]*\r?$/m;
const DATA = /^(?:data|stringData):[ \t]*\r?$/;
const ENTRY = /^([ \t]+)["']?[\w.-]{1,253}["']?:[ \t]+["']?/;

/** All that a Secret of Kubernetes holds, whatever its entries are called. */
const KUBERNETES_SECRETS: Rule = {
  name: VALUE,
  *find(text): Generator<Span> {
    let from = 0;
    for (const document of text.split(/^(?=---)/m)) {
      if (KIND.test(document)) yield* entries(document, from);
      from += document.length;
    }
  },
};

function* entries(document: string, from: number): Generator<Span> {
  let isData = false;
  /** How far an entry is indented; what is indented further belongs to it. */
  let indent: number | undefined;
  let start = from;
  for (const line of document.split('\n')) {
    const blanks = line.length - line.trimStart().length;
    if (blanks === 0 && line !== '') {
      isData = DATA.test(line);
      indent = undefined;
    } else if (isData && line.trim() !== '') {
      const head = indent === undefined || blanks <= indent ? (ENTRY.exec(line)?.[0].length ?? 0) : blanks;
      if (head !== blanks) indent = blanks;
      const value = line.slice(head).trimEnd();
      const quoted = /["']$/.test(value) ? 1 : 0;
      if (head > 0 && !/^(?:[|>][-+\d]{0,3}|)$/.test(value))
        yield [start + head, start + head + value.length - quoted];
    }
    start += line.length + 1;
  }
}

/** Names and values that other things stand between; for every text. */
export const VALUES_APART: readonly Rule[] = [
  byPattern(VALUE, DEFAULT, isApart),
  byPattern(VALUE, NAMED, isApart),
  byPattern(VALUE, ARGUMENT, isArgument),
  byPattern(VALUE, LISTED_ARGUMENT, isArgument),
  byPattern(VALUE, DEFINED, isApart),
  KUBERNETES_SECRETS,
];
