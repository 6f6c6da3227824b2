import { MASK, stripUrlCredentials } from './secret-names.ts';
import { maskPrivateKeys, maskShapes, namesSecret } from './secret-shapes.ts';

/** `name = "value"`, `name: 'value'`, `"name": "value"`; lengths are limited so that no text makes matching slow. */
const QUOTED =
  /(mot[ _-]de[ _-]passe|[\w$.-]{2,60})(["'\]]{0,2}[ \t]{0,4}(?::[ \t]{0,4}\w{1,30}[ \t]{0,4})?(?:=>|:=|\?=|[:=])[ \t]{0,4})(["'`])((?:(?!\3)[^\n\\]|\\.){4,400})\3/gi;

/** The same without quotation marks, and what precedes it. */
const BARE =
  /(^|[^\w$.-])(-{0,2})(mot[ _-]de[ _-]passe|[\w$.-]{2,60})(["'\]]{0,2}[ \t]{0,4}(?:=>|:=|\?=|[:=])[ \t]{0,4})([^\s"'`,;<>{}()[\]&][^\s"'`,;<>{}()[\]&]{3,400})/gim;

/** `--password value`. */
const OPTION = /(^|[\s"'`])(--?)([a-z][\w-]{1,60})([ \t]{1,4})([^\s"'`,;<>{}()[\]&-][^\s"'`;<>{}]{3,400})/gim;

/** A key at the beginning of a line of a configuration file, whose value goes to the end of the line. */
const LINE =
  /^([ \t]*(?:(?:[#;]|\/\/|-|export|set|env)[ \t]+){0,4}["']?)(mot[ _-]de[ _-]passe|[\w$.@/-]{2,120})(["']?[ \t]{0,8}[:=][ \t]{0,8})([^\s"'`#{[|>][^\n]{3,2000})$/gim;

/** `ENV DB_PASSWORD value` in a Dockerfile. */
const ENV_LINE = /^([ \t]*(?:ENV|ARG)[ \t]+)([\w.-]{2,60})([ \t]+)([^\s="'$][^\n]{3,400})$/gim;

const ELEMENT = /(<([\w.:-]{2,60})(?:\s[^<>\n]{0,200})?>)([^<>\n]{4,400})(?=<\/)/g;

/** The name and the value apart: `name: DB_PASSWORD` and `value: …` on the next line, `key="Password" value="…"`. */
const NAMED =
  /(\b(?:name|key)["']?[ \t]{0,4}[:=][ \t]{0,4}["']?([\w.:-]{2,60})["']?,?[ \t]{0,4}(?:\r?\n[ \t]{0,40})?["']?\bvalue["']?[ \t]{0,4}[:=][ \t]{0,4}["']?)([^\s"'<>][^"'\n<>\r]{3,400})/gi;

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
  const safe = maskShapes(maskPrivateKeys(stripUrlCredentials(text)))
    .text.replace(QUOTED, (whole, name: string, between: string, quote: string, value: string) =>
      namesSecret(name) && !isPlaceholder(value) && !isSentence(value)
        ? name + between + quote + MASK + quote
        : whole,
    )
    .replace(ELEMENT, (whole, tag: string, name: string, value: string) =>
      namesSecret(name) && !isPlaceholder(value.trim()) && !isSentence(value) ? tag + MASK : whole,
    );
  return CODE.test(path) ? inCode(safe) : inOther(safe, path);
}

/** Only what cannot be a name, a call or a type: a part of a text such as `"Password=abc;"`, or letters after digits. */
function inCode(text: string): string {
  return text
    .replace(BARE, (...[whole, before, dashes, name, between, value]: string[]) => {
      if (!isSecretValue(name, value)) return whole ?? '';
      const tight =
        between === '=' && (/[;"'`&?]/.test(before ?? '') || /^[A-Z\d_]+$/.test(name ?? '') || dashes !== '');
      const masked = tight ? /\d/.test(value ?? '') || /[;&?]/.test(before ?? '') : isOpaque(value ?? '');
      return masked ? `${before}${dashes}${name}${between}${MASK}` : (whole ?? '');
    })
    .replace(OPTION, (...parts: string[]) => option(parts, (value) => /\d/.test(value)));
}

function inOther(text: string, path: string): string {
  const prose = PROSE.test(path);
  let safe = prose
    ? text
    : maskBlocks(text).replace(NAMED, (whole, before: string, name: string, value: string) =>
        isSecretValue(name, value) ? before + MASK : whole,
      );
  const rest = (...[whole, before, name, between, value]: string[]): string => {
    const [kept, comment] = splitComment(value ?? '', path);
    return isSecretValue(name, kept) ? `${before}${name}${between}${MASK}${comment}` : (whole ?? '');
  };
  if (!prose && !SHELL.test(path)) safe = safe.replace(LINE, rest);
  if (!prose) safe = safe.replace(ENV_LINE, rest);
  return safe
    .replace(BARE, (...parts: (string | number)[]) => {
      const [whole, before, dashes, name, between, value] = parts.map(String);
      if (!isSecretValue(name, value)) return whole ?? '';
      const alone = prose && isLastOfLine(parts, whole ?? '') && (value ?? '').length >= 8;
      const plain = !prose || between?.includes('=') === true || alone || isStrong(value ?? '');
      return plain ? `${before}${dashes}${name}${between}${MASK}` : (whole ?? '');
    })
    .replace(OPTION, (...parts: string[]) => option(parts, (value) => !prose || isStrong(value)));
}

/** The last arguments of a replacement are where it was found and the whole text. */
function isLastOfLine(parts: readonly (string | number)[], whole: string): boolean {
  const text = String(parts.at(-1));
  const end = Number(parts.at(-2)) + whole.length;
  return /^[ \t\r`'"]*(?:\n|$)/.test(text.slice(end, end + 10));
}

function option(
  [whole = '', before = '', dashes = '', name = '', blank = '', value = '']: readonly string[],
  wanted: (value: string) => boolean,
): string {
  // In capitals it says what to put there: `--token TOKEN`.
  const masked = isSecretValue(name, value) && !/^[A-Z_]+$/.test(value) && wanted(value);
  return masked ? before + dashes + name + blank + MASK : whole;
}

function maskBlocks(text: string): string {
  let deeper: number | undefined;
  return text
    .split('\n')
    .map((line) => {
      const indent = /^[ \t]*/.exec(line)?.[0].length ?? 0;
      if (deeper !== undefined && (line.trim() === '' || indent > deeper))
        return line.trim() === '' ? line : line.slice(0, indent) + MASK;
      const [, blanks = '', name = ''] = BLOCK.exec(line) ?? [];
      deeper = namesSecret(name) ? blanks.length : undefined;
      return line;
    })
    .join('\n');
}

/** Elsewhere than in YAML and TOML, what looks like a comment may be part of the value. */
function splitComment(value: string, path: string): [string, string] {
  const end = /\.(?:ya?ml|toml)$/i.test(path) ? /[ \t]+#|[ \t]*\r?$/ : /,?[ \t]*\r?$/;
  const at = end.exec(value)?.index ?? value.length;
  return [value.slice(0, at), value.slice(at)];
}

function isSecretValue(name = '', value = ''): boolean {
  return namesSecret(name) && value.length >= 4 && !isPlaceholder(value);
}

/** `${TOKEN}`, `process.env.X`, `<your key>`: what stands for a value, or is none. */
function isPlaceholder(value: string): boolean {
  return /^(?:\$(?:\w+|[{(].*)|\{\{.*|%\w+%|@?<[^>]*>|\*+.*|={1,2}.*|process\.env\..*|os\.environ.*|import\.meta\..*|secrets?\.[\w.]+|(?:basic|bearer|token|digest)(?: (?:\*+|\$\{[^}]*\}|\{\w*\}|<[^>]*>|%s))?|true|false|null|none|undefined|![A-Za-z]+ .*)$/i.test(
    value,
  );
}

/** Words of messages and labels. A pass phrase has blanks too, but hardly two of them. */
const SENTENCE =
  /(?:^|[^\p{L}])(?:the|an?|is|are|was|be|must|should|cannot|not|no|your|you|to|of|for|in|with|and|or|please|enter|missing|required|invalid|passwords?|tokens?|secrets?|key|le|la|les|un|une|est|votre|mot|de|du|pour)(?=$|[^\p{L}])/giu;

function isSentence(value: string): boolean {
  return (value.match(SENTENCE)?.length ?? 0) >= 2;
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
