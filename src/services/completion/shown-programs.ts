import { masked } from '../../base/secrets/rules.ts';
import { URL_CREDENTIALS } from '../../base/secrets/secret-names.ts';
import { visible } from '../../base/text/hidden.ts';
import { cut, plural } from '../../base/text/text.ts';

/**
 * What a person reads before deciding whether a project may run its programs. Its author has written it, so nothing may
 * keep a command from being seen: not a length, not blanks, and not what looks like a secret.
 */

/** More than anyone reads; what is left out is said. */
const MOST_CHARACTERS = 4_000;
const MOST_LINES = 40;

/** What a shell would neither run nor take for the end of a word. */
const PLAIN_VALUE = /^[\w.~%+,:=@-]*$/;

const CREDENTIALS = {
  ...URL_CREDENTIALS,
  *find(text: string) {
    for (const [start, end] of URL_CREDENTIALS.find(text))
      if (PLAIN_VALUE.test(text.slice(start, end))) yield [start, end] as const;
  },
};

/** Hides secrets that are known, and credentials of URLs unless they could be a command. */
export function withoutSecrets(text: string, hide: (text: string) => string): string {
  return masked(hide(text), [CREDENTIALS]).text;
}

/** How wide a gap may be, and how many empty lines there may be, before they are said in words. */
const WIDE_GAP = 40;
const MANY_LINES = 20;

/** A line to the last character: what a terminal would hide or obey as escapes, and long gaps in words. */
function plainLine(text: string): string {
  return withoutGaps(visible(text));
}

function withoutGaps(line: string): string {
  return line.replace(/[\p{Zs}\t]{10,}/gu, (gap) => {
    const tabs = gap.split('\t').length - 1;
    return gap.length + 3 * tabs < WIDE_GAP ? gap : ` [${gap.length} blanks] `;
  });
}

/** A whole text in such lines. */
export function plainText(text: string): string {
  const shown: string[] = [];
  let empty = 0;
  const close = (): void => {
    if (empty >= MANY_LINES) shown.splice(-empty, empty, `[${empty} empty lines]`);
    empty = 0;
  };
  for (const line of text.split('\n')) {
    if (/\S/.test(line)) close();
    else empty += 1;
    shown.push(withoutGaps(line.split('\t').map(visible).join('\t')));
  }
  close();
  return shown.join('\n');
}

/** A value of a file, as much of it as anyone reads. */
function shownValue(text: string): string {
  const rest = text.length - MOST_CHARACTERS;
  return rest <= 0
    ? plainLine(text)
    : `${plainLine(cut(text, MOST_CHARACTERS))} [and ${rest} more characters: read the file first]`;
}

type Script = readonly [name: string, command: string];

/** Those that run by themselves and those that they name, whole; of all others the names. */
export function scriptLines(scripts: readonly Script[]): string[] {
  const known = new Map(scripts);
  const reached = new Set<string>();
  const open = ['pretest', 'test', 'posttest'];
  for (let name = open.shift(); name !== undefined; name = open.shift()) {
    const command = known.get(name);
    if (command === undefined || reached.has(name)) continue;
    reached.add(name);
    const words = command.split(/[^\w:.@/-]+/);
    open.push(...words.flatMap((word) => [`pre${word}`, word, `post${word}`]));
  }
  const others = scripts.flatMap(([name]) => (reached.has(name) ? [] : [name]));
  const lines = [...reached].map(
    (name) => `${plainLine(cut(name, 200))}: ${shownValue(known.get(name) ?? '')}`,
  );
  return others.length === 0
    ? lines
    : [...lines, `and ${plural(others.length, 'other script')}: ${shownValue(others.join(', '))}`];
}

/** Names of values that are for a registry, and not for people who look over a shoulder. */
const CREDENTIAL = /auth|token|passw|secret|credential/i;
/** A name and a value with nothing else in them: neither a variable that becomes part of the name, nor a second setting. */
const PLAIN_NAME = /^["']?[\w./:@-]+["']?$/;
const ONE_VALUE = /^(?:"[^"\\]*"|'[^']*'|[^\s,{}[\]"']*),?$/;

/** Names that begin like this are about a registry or a scope, whatever is put in for variables. */
const SCOPED = /^(?:\/\/|@)/;

/** In the ini files of npm, a line with one of these at its beginning is nothing else; in others it may be part of a text. */
const COMMENT = /^\s*[#;]/;

/**
 * The settings in a file, without the values of credentials. A line is what a package manager takes for one, and nothing of
 * it is left out that one might obey.
 */
export function settingLines(text: string, isIni: boolean): string[] {
  const lines = linesOf(text, isIni).map((line) => withoutCredential(line, isIni));
  const rest = lines.length - MOST_LINES;
  const shown = lines.slice(0, MOST_LINES).map(shownValue);
  return rest <= 0 ? shown : [...shown, `and ${plural(rest, 'more line')}: read the file first`];
}

function linesOf(text: string, isIni: boolean): string[] {
  return text.split(/[\r\n]+/).filter((line) => /\S/.test(line) && !(isIni && COMMENT.test(line)));
}

/** Settings with which npm runs the scripts of other packages, or obeys another file of settings. */
const ELSEWHERE = /^(?:workspaces?|recursive|userconfig|globalconfig)(?:\[\])?$/;
const NPM_NAME = /^[\w./:@-]+(?:\[\])?$/;

/** Whether npm would run or obey what is not in the files that are shown, or might: not every name says what it sets. */
export function leadsElsewhere(npmrc: string): boolean {
  return linesOf(npmrc, true).some((line) => {
    const [name = '', value] = line.split('=').map((part) => part.trim());
    if (SCOPED.test(name) || value === 'false') return false;
    return ELSEWHERE.test(name) || !NPM_NAME.test(name);
  });
}

/** In an ini file, a value is all that follows; elsewhere another setting may follow it. */
function withoutCredential(line: string, isIni: boolean): string {
  const end = line.search(/=|:(?=\s|$)/);
  const [name, value] = [line.slice(0, end).trim(), line.slice(end + 1).trim()];
  const isOne = isIni
    ? PLAIN_NAME.test(name) || SCOPED.test(name)
    : PLAIN_NAME.test(name) && ONE_VALUE.test(value);
  return end !== -1 && CREDENTIAL.test(name) && isOne ? `${line.slice(0, end + 1)}***` : line;
}
