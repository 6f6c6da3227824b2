import { isSecretName } from './names.ts';
import { MASK, masked, URL_CREDENTIALS, type Rule, type Span } from './rules.ts';
import { isNoSecretOf, PRIVATE_KEYS, TOKEN_SHAPES, VALUE, VALUES_APART } from './values.ts';

const FORMATS: readonly [RegExp, Format][] = [
  [/\.ya?ml$/i, 'yaml'],
  [/\.toml$/i, 'toml'],
  [/\.jsonc?$/i, 'json'],
  [
    /\.(?:ini|cfg|cnf|conf|properties|tfvars|env)$|(?:^|\/)\.(?:env(?:\.[\w-]+)?|npmrc|pypirc|netrc|pgpass)$/i,
    'lines',
  ],
];

/** Masks the values of secret-looking keys in configuration files; every other byte is preserved. */
export function maskConfigSecrets(path: string, text: string): string {
  const format = formatOf(path);
  if (format === undefined) return text;
  const rules = [URL_CREDENTIALS, ...VALUES_APART, configValues(format), PRIVATE_KEYS, ...TOKEN_SHAPES];
  return masked(text, rules).text;
}

export const formatOf = (path: string): Format | undefined => FORMATS.find(([name]) => name.test(path))?.[1];

export function configValues(format: Format): Rule {
  return { name: VALUE, find: (text) => new ConfigMask(text, format).secrets() };
}

/** Indentation, a comment mark, the dashes of a list, words a shell allows before an assignment. */
const LINE_START = /([ \t]*)((?:#|;|\/\/)[#;/ \t]*)?(?:-+[ \t]+|export[ \t]+|set[ \t]+)*/y;
const LINE_KEY =
  /(?:(["'])([^"'\\\n]{0,200})\1|([^\s"'{}[\],#:=]{1,200}(?: [^\s"'{}[\],#:=]{1,200}){0,9}))[ \t]*([:=])[ \t]*/y;
/** Keys with what separates them from their value. Lengths are limited, so that no text makes matching slow. */
const KEYS: Record<Format, RegExp> = {
  yaml: LINE_KEY,
  toml: /(?:(["'])([^"'\\\n]{0,200})\1|([\w.-]{1,200}))[ \t]*=[ \t]*/y,
  json: /(?:(["'])([^"'\\\n]{0,200})\1|([\w.$-]{1,200}))\s*:\s*/y,
  lines: LINE_KEY,
};
/** The head of a table in TOML and of a section in other formats. */
const SECTION = /\[{1,2}([^[\]\n]*)\]{1,2}[ \t]*(?:[#;][^\n]*)?\r?(?:\n|$)/y;
const BLANKS = /[ \t]*/y;
const SPACE = /\s*/y;
const PIECE_END = /[,{}[\]\n]|[ \t]#/g;
const FLOW_VALUE_END = /[,}\]]/g;
const LINE_VALUE_END = /\n|[ \t]#/g;
const LINE_OVER = /[ \t]*(?:#[^\n]*)?\r?(?:\n|$)/y;
/** What may come after a value in quotation marks or brackets, for which the end is known: in a flow and elsewhere. */
const FLOW_VALUE_OVER = /[ \t]*(?:[,}\]\r\n]|$)|[ \t]+(?:#|\/\/)/y;
const LINE_VALUE_OVER = /[ \t]*(?:[,}\]]+[ \t]*)?\r?(?:\n|$)|[ \t]+[#;]/y;
const COMMENT = /(?<=\s)#/y;
const BLOCK_SCALAR = /[|>][-+\d]*[ \t]*(?:#[^\n]*)?\r?(?:\n|$)/y;
const NESTED_LINE = /([ \t]*)((?:-(?:[ \t]+|(?=\r?\n|$)))*)([^\n]*)/y;
/** Assignments inside of other text: `--token=abc` in a command, `Password=abc;` in a connection. */
const ASSIGNMENT = /(?<![\w.-])([\w.-]+)=([^\s"'`;&<>{}$,]+)/g;
const ASSIGNED_TEXT = /["']([\w.-]{1,200})=/y;
/** Below `secret:` or `secrets:`, what says where a secret is, and not what it is. */
const ABOUT_SECRET =
  /^["']?(?:secretName|defaultMode|optional|required|description|file|external)["']?:[ \t]/;

interface Line {
  indent: number;
  /** Where the key begins, behind the dashes of a list. */
  column: number;
  comment: boolean;
  /** Inside a YAML text in `|` or `>` style. */
  literal: boolean;
}

/**
 * Walks through a text as a reader of its format would, only far enough to see where keys are and where their values
 * end. The text need not be correct. Where it cannot be sure, it masks too much rather than too little.
 */
class ConfigMask {
  readonly #cursor: TextCursor;
  readonly #secrets: Span[] = [];
  readonly #format: Format;
  /** How many brackets are open, and the indentation of the line that opened the first. */
  #depth = 0;
  #openedAt = 0;
  /** Where the key is whose text in `|` or `>` style we are in. */
  #literalOf: number | undefined;
  #secretSection = false;

  constructor(text: string, format: Format) {
    this.#cursor = new TextCursor(text);
    this.#format = format;
  }

  secrets(): readonly Span[] {
    while (this.#cursor.at < this.#cursor.text.length) this.#line();
    return this.#secrets;
  }

  #line(): void {
    const cursor = this.#cursor;
    const line = this.#lineStart();
    this.#section();
    let key = this.#key(line);
    if (this.#format === 'lines' || (key !== undefined && line.indent <= this.#openedAt)) this.#depth = 0;
    for (;;) {
      if (key !== undefined && (this.#secretSection || this.#isSecret(key))) this.#maskValue(line, key);
      const char = cursor.text[cursor.at];
      if (char === undefined || char === '\n') break;
      key = this.#pass(char, line, key !== undefined) ? this.#key(line) : undefined;
    }
    cursor.at += 1;
  }

  #lineStart(): Line {
    const [start = '', { length: indent } = '', comment] = this.#cursor.take(LINE_START) ?? [];
    if (this.#literalOf !== undefined && indent <= this.#literalOf && !this.#cursor.sees(LINE_OVER))
      this.#literalOf = undefined;
    const literal = this.#literalOf !== undefined;
    return { indent, column: start.length, comment: comment !== undefined, literal };
  }

  #section(): void {
    const cursor = this.#cursor;
    if ((this.#format !== 'toml' || this.#depth > 0) && this.#format !== 'lines') return;
    SECTION.lastIndex = cursor.at;
    const name = SECTION.exec(cursor.text)?.[1];
    if (name !== undefined) this.#secretSection = name.split('.').some(isSecretName);
  }

  /** In TOML `password.old` is a key in a table `password`. */
  #isSecret(key: string): boolean {
    return this.#format === 'toml' ? key.split('.').some(isSecretName) : isSecretName(key);
  }

  /** Prose has colons too, so in comments and texts a key is one word. In YAML `=` is a letter, except in secrets. */
  #key({ comment, literal }: Line): string | undefined {
    const from = this.#cursor.at;
    const [, , quotedKey, key = quotedKey, separator] = this.#cursor.take(KEYS[this.#format]) ?? [];
    const prose = (comment || literal) && key?.includes(' ') === true;
    const word = this.#format === 'yaml' && separator === '=' && key !== undefined && !isSecretName(key);
    if (!prose && !word) return key;
    this.#cursor.at = from;
    return undefined;
  }

  #inFlow(line: Line): boolean {
    return (this.#depth > 0 || this.#format === 'json') && !line.comment && !line.literal;
  }

  /** Skips one piece that is not a secret; returns whether a key may follow. */
  #pass(char: string, line: Line, keyed: boolean): boolean {
    if (line.comment || line.literal) return this.#passPlain(line, keyed);
    if (char === '"' || char === "'") return this.#passQuoted();
    const opens = char === '{' || char === '[';
    if (!opens && !(this.#inFlow(line) && '}],'.includes(char))) return this.#passPlain(line, keyed);
    if (opens && this.#depth === 0) this.#openedAt = line.indent;
    if (char !== ',') this.#depth = Math.max(0, this.#depth + (opens ? 1 : -1));
    this.#cursor.at += 1;
    this.#cursor.take(BLANKS);
    return opens || char === ',';
  }

  #passQuoted(): false {
    const cursor = this.#cursor;
    const start = cursor.at;
    const end = quoteEnd(cursor.text, start, this.#format, true);
    const [assignment = '', name = ''] = cursor.take(ASSIGNED_TEXT) ?? [];
    if (isSecretName(name)) this.#secrets.push([start + assignment.length, end - 1]);
    else this.#maskAssignments(start, end);
    cursor.at = end;
    return false;
  }

  #passPlain(line: Line, keyed: boolean): false {
    const cursor = this.#cursor;
    const start = cursor.at;
    const flow = this.#inFlow(line) && !cursor.sees(COMMENT);
    if (this.#format === 'yaml' && !flow && !line.literal && cursor.sees(BLOCK_SCALAR))
      this.#literalOf = keyed ? line.column : line.indent;
    cursor.at = flow ? cursor.find(PIECE_END, start + 1) : lineEnd(cursor.text, start);
    this.#maskAssignments(start, cursor.at);
    return false;
  }

  #maskAssignments(start: number, end: number): void {
    for (const match of this.#cursor.text.slice(start, end).matchAll(ASSIGNMENT)) {
      const [all, name = '', value = ''] = match;
      if (!isSecretName(name) || isNoSecretOf(name, value)) continue;
      const stop = start + match.index + all.length;
      this.#secrets.push([stop - value.length, stop]);
    }
  }

  #maskValue(line: Line, key: string): void {
    const cursor = this.#cursor;
    const flow = this.#inFlow(line);
    if (flow) cursor.take(SPACE);
    const nests = this.#format === 'yaml' && !flow && !line.comment;
    if (!nests || !this.#continuesBelow()) {
      const start = cursor.at;
      cursor.at = this.#valueEnd(start, line);
      const value = cursor.text.slice(start, cursor.at);
      const [quote = ''] = /^(?:"""|'''|"|')/.exec(value) ?? [];
      const kept = value.length >= 2 * quote.length && value.endsWith(quote) ? quote.length : 0;
      const inside = value.slice(kept, value.length - kept);
      if (!isNoSecretOf(key, inside)) this.#secrets.push([start + kept, cursor.at - kept]);
    }
    if (nests && this.#continuesBelow()) this.#maskNested(line.column);
  }

  #continuesBelow(): boolean {
    return this.#cursor.sees(LINE_OVER) || this.#cursor.sees(BLOCK_SCALAR);
  }

  /** Masks the lines that belong to the value of a YAML key: what is indented further, and a list right below it. */
  #maskNested(column: number): void {
    const cursor = this.#cursor;
    for (
      let from = lineEnd(cursor.text, cursor.at) + 1;
      from < cursor.text.length;
      from = lineEnd(cursor.text, from) + 1
    ) {
      NESTED_LINE.lastIndex = from;
      const [, indent = '', dashes = '', rest = ''] = NESTED_LINE.exec(cursor.text) ?? [];
      const content = rest.trimEnd();
      const belongs = indent.length > column || (indent.length === column && dashes !== '');
      if (!belongs && content !== '' && !content.startsWith('#')) return;
      if (!belongs) continue;
      const start = from + indent.length + dashes.length;
      if (content !== '' && !ABOUT_SECRET.test(content)) this.#secrets.push([start, start + content.length]);
      cursor.at = start + content.length;
    }
  }

  #valueEnd(start: number, line: Line): number {
    const { text } = this.#cursor;
    const char = text.charAt(start);
    let end = start;
    if (this.#format !== 'lines' && text.startsWith(MASK, start)) end += MASK.length;
    else if (char === '"' || char === "'") end = quoteEnd(text, start, this.#format, line.comment);
    else if ((char === '[' || char === '{') && this.#format !== 'lines' && !line.comment)
      end = bracketEnd(text, start, this.#format);
    const over = this.#inFlow(line) ? FLOW_VALUE_OVER : LINE_VALUE_OVER;
    if (end > start && this.#cursor.sees(over, end)) return end;
    return start + text.slice(start, this.#plainEnd(end, line)).trimEnd().length;
  }

  #plainEnd(from: number, line: Line): number {
    const cursor = this.#cursor;
    const flow = this.#inFlow(line);
    if (this.#format === 'lines')
      return flow ? cursor.find(PIECE_END, from) : continuedLineEnd(cursor.text, from);
    if (flow) return cursor.find(FLOW_VALUE_END, from);
    return line.comment || line.literal ? lineEnd(cursor.text, from) : cursor.find(LINE_VALUE_END, from);
  }
}

type Format = 'yaml' | 'toml' | 'json' | 'lines';

/** Where a text in quotation marks ends: behind the closing one, or with the text when there is none. */
function quoteEnd(text: string, start: number, format: Format, onThisLine: boolean): number {
  const quote = text.charAt(start);
  const triple = format === 'toml' && text.startsWith(quote.repeat(3), start);
  const closing = triple ? quote.repeat(3) : quote;
  for (let at = start + closing.length; at < text.length; at++) {
    const char = text[at];
    if (char === '\n' && onThisLine) return at;
    if (char === '\\' && quote === '"' && text[at + 1] !== '\n') at += 1;
    else if (char === "'" && format === 'yaml' && quote === "'" && text[at + 1] === "'") at += 1;
    else if (char === quote && text.startsWith(closing, at)) {
      // A text in three quotation marks may end with two more of them.
      const rest = text.slice(at + closing.length, at + closing.length + 2);
      return at + closing.length + (triple ? rest.length - rest.replace(/^["']+/, '').length : 0);
    }
  }
  return text.length;
}

/** Where a list or table in brackets ends: behind the closing one, or with the text when there is none. */
function bracketEnd(text: string, start: number, format: Format): number {
  // Quotation marks count where a value begins, because plain words may hold an apostrophe.
  const beforeValues = format === 'toml' ? '[{,=' : '[{,:';
  let open = 0;
  let before = '';
  for (let at = start; at < text.length; at++) {
    const char = text.charAt(at);
    if ((char === '"' || char === "'") && beforeValues.includes(before))
      at = quoteEnd(text, at, format, false) - 1;
    else if (char === '#' && /\s/.test(text.charAt(at - 1))) at = lineEnd(text, at);
    else if (char === '[' || char === '{') open += 1;
    else if (char === ']' || char === '}') open -= 1;
    if (open === 0) return at + 1;
    // In YAML `a:b` is one word, and so is `a:'b`.
    const inWord = char === ':' && format === 'yaml' && /[^"']:\S/.test(text.slice(at - 1, at + 2));
    if (!/\s/.test(char)) before = inWord ? 'a' : char;
  }
  return text.length;
}

/** Where a line ends that a backslash joins with the next. */
function continuedLineEnd(text: string, from: number): number {
  let end = lineEnd(text, from);
  while (end < text.length && /\\\r?$/.test(text.slice(end - 2, end))) end = lineEnd(text, end + 1);
  return end;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

/** A position in a text that moves forward. Patterns are sticky or global. */
class TextCursor {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** What the sticky pattern finds right here; moves behind it. */
  take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    this.at += match?.[0].length ?? 0;
    return match;
  }

  /** Whether the sticky pattern fits at this place. */
  sees(pattern: RegExp, at = this.at): boolean {
    pattern.lastIndex = at;
    return pattern.test(this.text);
  }

  /** Where the global pattern fits next; the end of the text when it does not. */
  find(pattern: RegExp, from: number): number {
    pattern.lastIndex = from;
    return pattern.exec(this.text)?.index ?? this.text.length;
  }
}
