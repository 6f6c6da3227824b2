import { VALUES_APART } from './apart-rules.ts';
import { byPattern, masked, type Rule, type Span } from './rules.ts';
import { isSecretName, URL_CREDENTIALS } from './secret-names.ts';
import { PRIVATE_KEYS, TOKEN_SHAPES } from './secret-shapes.ts';
import { isNoSecretOf } from './secret-values.ts';
import { withoutEnd } from '../text/ends.ts';

/** `name = "value"`, `name: 'value'`, `"name": "value"`; lengths are limited so that no text makes matching slow. */
const QUOTED =
  /(?<key>mot[ _-]de[ _-]passe|[\w$.-]{2,60})["'\]]{0,2}[ \t]{0,24}(?::[ \t]{0,4}\w{1,30}[ \t]{0,4})?(?:=>|:=|\?=|[:=])[ \t]{0,4}(?<quote>["'`])(?<value>(?:(?!\k<quote>)[^\n\\]|\\.){4,400})\k<quote>/gi;

/** The same without quotation marks, and what precedes it. */
const BARE =
  /(?<before>^|[^\w$.-])(?<dashes>-{0,2})(?<key>mot[ _-]de[ _-]passe|[\w$.-]{2,60})(?<sign>["'\]]{0,2}[ \t]{0,24}(?:=>|:=|\?=|[:=])[ \t]{0,4})(?<value>[^\s"'`,;<>{}()[\]&][^\s"'`,;<>{}()[\]&]{3,400})/gim;

/** `--password value`. */
const OPTION =
  /(?:^|[\s"'`])--?(?<key>[a-z][\w-]{1,60})[ \t]{1,4}(?<value>[^\s"'`,;<>{}()[\]&-][^\s"'`;<>{}]{3,400})/gim;

/** A key at the beginning of a line of a configuration file, whose value goes to the end of the line. */
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
  if (PROSE.test(path)) return IN_PROSE;
  const line = byPattern(VALUE, LINE, beforeComment(path));
  const env = byPattern(VALUE, ENV_LINE, beforeComment(path));
  const values = SHELL.test(path) ? [] : [line];
  return [...QUOTED_VALUES, BLOCKS, ...values, env, ASSIGNED, OPTIONS];
}

const VALUE = 'the value of a secret';

type MatchedGroups = Readonly<Record<string, string | undefined>>;

const isSecret = ({ key = '', value = '' }: MatchedGroups): boolean =>
  isSecretName(key) && value.length >= 4 && !isNoSecretOf(key, value) && !isAboutOne(value);

/** `${TOKEN:?a message}` has a message where others have a value, and `${TOKEN:-***}` one that is masked already. */
const isBare = (found: MatchedGroups): boolean =>
  isSecret(found) && !(found['before'] === '{' && /^(?:\?|[-=]\*)/.test(found['value'] ?? ''));

/** Messages and labels speak of secrets, and are none. */
const isNoSentence = ({ key = '', value = '' }: MatchedGroups): boolean =>
  isSecretName(key) && !isNoSecretOf(key, value) && !isAboutOne(value) && !isSentence(value);

/** The same in code, where an expression may be inside of a text. */
const isNoExpression = (found: MatchedGroups): boolean =>
  isNoSentence(found) &&
  !/^(?:\$[{(]|\{\{|process\.env\.|os\.environ|import\.meta\.)/.test(found['value'] ?? '');

/** In capitals it says what to put there: `--token TOKEN`. */
const isOption = (found: MatchedGroups): boolean =>
  isSecret(found) && !/^[A-Z_]+$/.test(found['value'] ?? '');

const EVERYWHERE: readonly Rule[] = [
  URL_CREDENTIALS,
  PRIVATE_KEYS,
  ...TOKEN_SHAPES,
  ...VALUES_APART,
  byPattern(VALUE, ELEMENT, ({ key, value }) => isNoSentence({ key, value: value?.trim() })),
];

const QUOTED_VALUES: readonly Rule[] = [byPattern(VALUE, QUOTED, isNoSentence)];

/** Only what cannot be a name, a call or a type: a part of a text such as `"Password=abc;"`, or letters after digits. */
const IN_CODE: readonly Rule[] = [
  byPattern(VALUE, QUOTED, isNoExpression),
  byPattern(VALUE, BARE, (found) => {
    const { before = '', dashes, key = '', sign, value = '' } = found;
    if (!isBare(found)) return false;
    const tight = sign === '=' && (/[;"'`&?]/.test(before) || /^[A-Z\d_]+$/.test(key) || dashes !== '');
    return tight ? /\d/.test(value) || /[;&?]/.test(before) : isOpaque(value);
  }),
  byPattern(VALUE, OPTION, (found) => isOption(found) && /\d/.test(found['value'] ?? '')),
];

const IN_PROSE: readonly Rule[] = [
  ...QUOTED_VALUES,
  byPattern(VALUE, BARE, (found, match) => {
    const { sign = '', value = '' } = found;
    if (!isBare(found)) return false;
    return sign.includes('=') || isStrong(value) || (value.length >= 8 && isLastOfLine(match));
  }),
  byPattern(VALUE, OPTION, (found) => isOption(found) && isStrong(found['value'] ?? '')),
];

const ASSIGNED = byPattern(VALUE, BARE, isBare);
const OPTIONS = byPattern(VALUE, OPTION, isOption);

function isLastOfLine({ 0: whole, index, input }: RegExpExecArray): boolean {
  const end = index + whole.length;
  return /^[ \t\r`'"]*(?:\n|$)/.test(input.slice(end, end + 10));
}

const BLOCKS: Rule = {
  name: VALUE,
  *find(text): Generator<Span> {
    let deeper: number | undefined;
    let start = 0;
    for (const line of text.split('\n')) {
      const indent = /^[ \t]*/.exec(line)?.[0].length ?? 0;
      const isBlank = line.trim() === '';
      if (deeper === undefined || (!isBlank && indent <= deeper)) {
        const [, blanks = '', name = ''] = BLOCK.exec(line) ?? [];
        deeper = isSecretName(name) ? blanks.length : undefined;
      } else if (!isBlank) yield [start + indent, start + line.length];
      start += line.length + 1;
    }
  },
};

/** Elsewhere than in YAML and TOML, what looks like a comment may be part of the value. */
function beforeComment(path: string): (found: MatchedGroups) => string | false {
  const isCommented = /\.(?:ya?ml|toml)$/i.test(path);
  return ({ key, open = '', close, value = '' }) => {
    const comment = isCommented ? value.search(/[ \t]#/) : -1;
    const whole = withoutEnd(comment === -1 ? value : value.slice(0, comment), ' \t\r');
    const line = isCommented ? whole : whole.replace(/,$/, '');
    // The quotation mark before the key is closed behind the value: `- "TOKEN=abc"`.
    const kept = open !== '' && close === '' && line.endsWith(open) ? line.slice(0, -1) : line;
    return isSecret({ key, value: kept }) && kept;
  };
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
