/** Values that must never be shown: registered once, removed from every log line and every answer. */
export interface Secrets {
  add(value: string): void;
  /** Removes registered values; for text that has to stay as it is otherwise. */
  hide(text: string): string;
  /** The same for every text inside a value. */
  hideIn(value: unknown): unknown;
  /** Removes registered values and the credentials of URLs; for everything the server says itself. */
  redact(text: string): string;
}

const MASK = '***';

/** Shorter values would blank out ordinary words. */
const SHORTEST_SECRET = 6;

export function createSecrets(): Secrets {
  const values = new Set<string>();
  function hide(text: string): string {
    let safe = text;
    for (const value of values) safe = safe.replaceAll(value, MASK);
    return safe;
  }
  return {
    add(value) {
      if (value.length >= SHORTEST_SECRET) values.add(value);
    },
    hide,
    hideIn: (value) => (values.size === 0 ? value : mapTexts(value, hide)),
    redact: (text) => hide(stripUrlCredentials(text)),
  };
}

/**
 * Replaces `user:password@` in URLs. A scan instead of a regular expression: it is linear, and it takes everything
 * up to the last `@` of the authority, so a password that holds an `@` does not leak its tail.
 */
export function stripUrlCredentials(text: string): string {
  let from = 0;
  let safe = '';
  for (;;) {
    const scheme = text.indexOf('://', from);
    if (scheme === -1) return safe + text.slice(from);
    const start = scheme + 3;
    let end = start;
    while (end < text.length && !/[\s/?#"'<>`\\]/.test(text.charAt(end))) end += 1;
    const at = text.lastIndexOf('@', end - 1);
    safe += text.slice(from, start);
    if (at >= start) safe += `${MASK}@`;
    from = at >= start ? at + 1 : start;
  }
}

const SECRET_WORDS = new Set([
  'password',
  'passwd',
  'passphrase',
  'pwd',
  'secret',
  'token',
  'apikey',
  'credential',
]);
const SECRET_PAIRS = new Set([
  'api key',
  'private key',
  'access key',
  'secret key',
  'auth key',
  'signing key',
]);

/** `api_key`, `clientSecret`, `GITHUB_TOKEN`; not `max_tokens` or `token_budget`. */
export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  const last = words.at(-1) ?? '';
  return SECRET_WORDS.has(last) || SECRET_PAIRS.has(words.slice(-2).join(' '));
}

const CONFIG_FILE =
  /(?:\.(?:ya?ml|toml|json|jsonc|ini|cfg|conf|properties|env)|(?:^|\/)\.env(?:\.[\w-]+)?)$/i;
const KEY = /(["']?)([A-Za-z0-9_.-]{1,80})\1[ \t]*[:=][ \t]*/g;

/** Masks the values of secret-looking keys in configuration files; every other byte stays as it is. */
export function maskConfigSecrets(path: string, text: string): string {
  if (!CONFIG_FILE.test(path)) return text;
  const lines = stripUrlCredentials(text).split('\n');
  for (let index = 0; index < lines.length; index++) index = maskLine(lines, index);
  return lines.join('\n');
}

/** Masks one line, and the lines after it that belong to a masked value; returns the last line it dealt with. */
function maskLine(lines: string[], index: number): number {
  const line = lines[index] ?? '';
  let out = '';
  let from = 0;
  for (const match of line.matchAll(KEY)) {
    if (match.index < from || !isSecretName(match[2] ?? '')) continue;
    const start = match.index + match[0].length;
    const value = line.slice(start);
    const multiline = /^(?:[|>][+-]?\d*|"""|'''|\[|\{)?\s*(?:#.*)?$/.test(value)
      ? value.trim().charAt(0)
      : undefined;
    if (multiline !== undefined) {
      lines[index] = out + line.slice(from, start) + value;
      return maskFollowing(lines, index, multiline);
    }
    const length = scalarLength(value);
    if (/^(?:true|false|null|~|""|'')$/.test(value.slice(0, length).trim())) continue;
    const quote = /^["']/.exec(value)?.[0] ?? '';
    out += `${line.slice(from, start)}${quote}${MASK}${quote}`;
    from = start + length;
  }
  lines[index] = out + line.slice(from);
  return index;
}

/** How many characters of `text` the value at its beginning takes: a quoted string, a list, or up to `,` `}` or a comment. */
function scalarLength(text: string): number {
  const first = text.charAt(0);
  if (first === '"' || first === "'") {
    for (let at = 1; at < text.length; at++) {
      if (text[at] === '\\' && first === '"') at += 1;
      else if (text[at] === first) return at + 1;
    }
    return text.length;
  }
  if (first === '[') {
    const close = text.indexOf(']');
    return close === -1 ? text.length : close + 1;
  }
  const end = text.search(/[,}\r]|\s#/);
  return end === -1 ? text.length : end;
}

function maskFollowing(lines: string[], keyLine: number, opener: string): number {
  const indent = /^[\s-]*/.exec(lines[keyLine] ?? '')?.[0].length ?? 0;
  let index = keyLine + 1;
  for (; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const depth = /^\s*/.exec(line)?.[0].length ?? 0;
    const closes = opener !== '' && '"\'[{'.includes(opener) && /["'\]}]/.test(line.trim().slice(-2));
    const listItem = /^\s*- /.test(line);
    const belongs =
      line.trim() === '' ||
      depth > indent ||
      (listItem && depth >= indent) ||
      opener === '"' ||
      opener === "'";
    if (!belongs && !closes) break;
    if (closes && /^\s*["'\]}]+,?\s*$/.test(line)) return index;
    if (line.trim() !== '') lines[index] = `${line.slice(0, depth)}${listItem ? '- ' : ''}${MASK}`;
    if (closes) return index;
  }
  return index - 1;
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]));
}

/** The same for a table that has been parsed already: values of secret-looking keys, at any depth, are masked. */
export function maskSecretValues(value: unknown): unknown {
  if (typeof value === 'string') return stripUrlCredentials(value);
  if (Array.isArray(value)) return value.map(maskSecretValues);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      isSecretName(key) ? masked(inner) : maskSecretValues(inner),
    ]),
  );
}

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value === 'object' && value !== null) return maskSecretValues(value);
  return typeof value === 'boolean' || value === '' || value === null ? value : MASK;
}
