/** A piece of TypeScript that people may read, or that separates such pieces. Everything else is `code`. */
export interface Token {
  kind: 'string' | 'comment' | 'regex' | 'code';
  /** As it reads: escapes resolved, substitutions of a template as `HOLE`. */
  text: string;
  /** Where it begins and ends in the source. */
  start: number;
  end: number;
  /** The place in the source of each character of `text`. */
  places: number[];
}

/** Stands for a substitution of a template: whatever comes there is one unknown word. */
export const HOLE = '◌';

const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t', '0': '\0' };
const WORD = /[\p{L}\p{N}_$]/u;
/** After these words a slash begins a regular expression; after any other word it divides. */
const BEFORE_VALUE = /^(?:return|typeof|case|in|of|do|else|void|delete|await|yield|throw|new|instanceof)$/;

class Reader {
  at = 0;
  readonly tokens: Token[] = [];
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  peek(ahead = 0): string {
    return this.#source[this.at + ahead] ?? '';
  }

  get done(): boolean {
    return this.at >= this.#source.length;
  }

  looksAt(text: string): boolean {
    return this.#source.startsWith(text, this.at);
  }

  open(kind: Token['kind']): Token {
    const token: Token = { kind, text: '', start: this.at, end: this.at, places: [] };
    this.tokens.push(token);
    return token;
  }

  /** One character of the source becomes `text`, or itself. */
  take(token: Token, text = this.peek(), length = 1): void {
    for (let index = 0; index < text.length; index += 1) token.places.push(this.at);
    token.text += text;
    this.at += length;
    token.end = this.at;
  }

  /** The closing quote, or what closes a comment, belongs to the token and not to its text. */
  close(token: Token, length: number): void {
    this.at += length;
    token.end = this.at;
  }

  takeEscaped(token: Token): void {
    const long = /^\\(?:u\{([\da-f]+)\}|u([\da-f]{4})|x([\da-f]{2}))/i.exec(
      this.#source.slice(this.at, this.at + 12),
    );
    const code = long?.[1] ?? long?.[2] ?? long?.[3];
    if (long && code)
      return this.take(token, String.fromCodePoint(Number.parseInt(code, 16)), long[0].length);
    const next = this.peek(1);
    this.take(token, next === '\n' ? '' : (ESCAPES[next] ?? next), 2);
  }
}

function readQuoted(reader: Reader): void {
  const token = reader.open('string');
  const quote = reader.peek();
  reader.at += 1;
  while (!reader.done && reader.peek() !== quote && reader.peek() !== '\n')
    if (reader.peek() === '\\') reader.takeEscaped(token);
    else reader.take(token);
  reader.close(token, 1);
}

function readTemplate(reader: Reader): void {
  const token = reader.open('string');
  reader.at += 1;
  while (!reader.done && reader.peek() !== '`')
    if (reader.looksAt('${')) {
      reader.take(reader.open('code'), '$');
      reader.take(token, HOLE);
      readCode(reader, '}');
    } else if (reader.peek() === '\\') reader.takeEscaped(token);
    else reader.take(token);
  reader.close(token, 1);
}

function readComment(reader: Reader, end: string): void {
  const token = reader.open('comment');
  while (!reader.done && !reader.looksAt(end)) reader.take(token);
  reader.close(token, end === '*/' ? 2 : 0);
}

function readRegex(reader: Reader): void {
  const token = reader.open('regex');
  let inClass = false;
  reader.take(token);
  while (!reader.done && reader.peek() !== '\n' && (inClass || reader.peek() !== '/')) {
    if (reader.peek() === '[') inClass = true;
    if (reader.peek() === ']') inClass = false;
    if (reader.peek() === '\\') reader.take(token);
    reader.take(token);
  }
  reader.close(token, 1);
  while (/[a-z]/.test(reader.peek())) reader.close(token, 1);
}

/** Does a slash begin a regular expression here? It does where a value is expected. */
function beginsRegex(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind !== 'code') return false;
  return BEFORE_VALUE.test(before.text) || /^[^\p{L}\p{N}_)\]}]$/u.test(before.text);
}

/** Reads up to `end` of the same depth (a brace of a substitution), or to the end of the file. */
function readCode(reader: Reader, end?: string): void {
  let depth = 0;
  while (!reader.done) {
    const next = reader.peek();
    if (depth === 0 && next === end) {
      reader.at += 1;
      return;
    }
    if (next === '{') depth += 1;
    if (next === '}') depth -= 1;
    if (next === "'" || next === '"') readQuoted(reader);
    else if (next === '`') readTemplate(reader);
    else if (reader.looksAt('//')) readComment(reader, '\n');
    else if (reader.looksAt('/*')) readComment(reader, '*/');
    else if (next === '/' && beginsRegex(reader.tokens.findLast((token) => token.kind !== 'comment')))
      readRegex(reader);
    else if (/\s/.test(next)) reader.at += 1;
    else if (WORD.test(next)) {
      const token = reader.open('code');
      while (!reader.done && WORD.test(reader.peek())) reader.take(token);
    } else reader.take(reader.open('code'));
  }
}

export function tokensOf(source: string): Token[] {
  const reader = new Reader(source);
  readCode(reader);
  return reader.tokens.sort((one, other) => one.start - other.start);
}
