import { framed, isRow } from '../../src/language/template.ts';
import { HOLE, tokensOf, type Token } from '../english/tokens.ts';

interface Text {
  text: string;
  /** Whether it is a command as it is typed. */
  typed: boolean;
}

/** Strings that are put together with `+` are one text. */
function wholeStrings(tokens: readonly Token[]): Text[] {
  const own = tokens.filter(({ kind }) => kind !== 'comment');
  const texts: Text[] = [];
  let examples = false;
  for (let at = 0; at < own.length; at++) {
    const [before, token] = [own[at - 1]?.text, own[at]];
    if (token?.kind === 'code' && token.text === 'examples' && own[at + 1]?.text === ':') examples = true;
    if (token?.kind === 'code' && token.text === ']') examples = false;
    if (token?.kind !== 'string' || before === 'from' || before === 'import') continue;
    let { text } = token;
    while (own[at + 1]?.text === '+' && own[at + 2]?.kind === 'string') text += own[(at += 2)]?.text ?? '';
    texts.push({ text, typed: examples || (before === ':' && own[at - 2]?.text === 'command') });
  }
  return texts;
}

/** `plural(count, 'agent')` makes two texts, or those it names. */
function pluralTexts(tokens: readonly Token[]): string[] {
  const own = tokens.filter(({ kind }) => kind !== 'comment');
  return own.flatMap((token, at) => {
    if (token.text !== 'plural' || own[at + 1]?.text !== '(') return [];
    let depth = 0;
    const words: string[] = [];
    for (let next = at + 1; next < own.length; next++) {
      const { kind, text } = own[next] as Token;
      if (kind === 'code' && text === '(') depth++;
      if (kind === 'code' && text === ')' && --depth === 0) break;
      if (kind === 'string' && depth === 1) words.push(text);
    }
    const [one, many] = words;
    if (one === undefined || one.includes(HOLE)) return [];
    return [`{n} ${one}`, `{n} ${many ?? `${one}s`}`];
  });
}

/** The keys that a text of the code has: one for each line and each cell of a row, with numbers for what comes in. */
function keysOf(text: string): string[] {
  return text
    .split('\n')
    .flatMap((line) => (isRow(line) ? line.split('|') : [line]))
    .map(keyOf)
    .filter((key) => key !== '');
}

function keyOf(line: string): string {
  let number = 0;
  const { words } = framed(line.replaceAll(new RegExp(`${HOLE}+`, 'g'), HOLE));
  return words.replace(/[\s:]+$/, '').replaceAll(HOLE, () => `{${number++}}`);
}

/** Every text of a file as keys, and among them those that a person reads as words. */
export function textsOf(source: string): { all: Set<string>; worded: Set<string> } {
  const tokens = tokensOf(source);
  const plurals = pluralTexts(tokens);
  const strings = wholeStrings(tokens);
  const said = strings.filter(({ typed }) => !typed).flatMap(({ text }) => keysOf(text));
  return {
    all: new Set([...strings.flatMap(({ text }) => keysOf(text)), ...plurals]),
    worded: new Set([...said.filter(isWorded), ...plurals]),
  };
}

const NOT_WORDS =
  /^(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|WITH|BEGIN|COMMIT|ROLLBACK|FROM|WHERE|ORDER|AND|ON)\b|^(?:\.{0,2}\/|https?:|node:|[\w-]+\/[\w./-]+$)|[\\^$]\(|\(\?[:!=<]|=>|^[a-z]+(?:[-_][a-z]+)+ /;

/** More than a name: two words at least, or one in brackets or with the mark of a sentence. */
function isWorded(key: string): boolean {
  if (NOT_WORDS.test(key)) return false;
  const fixed = key.replaceAll(/\{[n\d]\}/g, ' ');
  const words = fixed.match(/(?<![\w.\-/])[\p{L}’']*\p{Ll}{2,}[\p{L}’']*(?![\w\-/]*[\w/])/gu) ?? [];
  if (words.length >= 2) return true;
  return words.length === 1 && (/\{[n\d]\}/.test(key) || /^\(.*\)$|[.!?…]$/.test(key));
}
