import { HOLE, type Token, tokensOf } from '../english/tokens.ts';

/** The texts of a file as keys of the catalogue. */
interface Texts {
  /** Every literal, and what `plural` makes of its words. */
  all: Set<string>;
  /** Those that are made for a person where they are written: `t`, `plural`, and `say` with a literal. */
  said: Set<string>;
  /** Those that were written before anyone knew who reads them, and that `say` looks up as a whole. */
  known: Set<string>;
}

/** Properties whose texts people read. */
const READ = new Set(['title', 'description', 'why', 'question', 'meaning']);
/** Properties with what is typed or called. */
const TYPED = new Set(['examples', 'command']);

/** Every text of a file, and among them those that need a French one. */
export function textsOf(source: string): Texts {
  const own = tokensOf(source).filter(({ kind }) => kind !== 'comment');
  const texts: Texts = { all: new Set(), said: new Set(), known: new Set() };
  for (const text of pluralTexts(own)) {
    texts.all.add(text);
    texts.said.add(text);
  }
  let constant = false;
  let typed = false;
  for (let at = 0; at < own.length; at++) {
    const token = own[at] as Token;
    const [before, earlier] = [own[at - 1], own[at - 2]];
    if (token.kind === 'code') {
      // A constant of the module has a name in capitals and ends with the statement.
      if (/^[A-Z][A-Z\d_]*$/.test(token.text) && before?.text === 'const' && isOutside(source, own, at))
        constant = true;
      if (token.text === ';') constant = false;
      if (TYPED.has(token.text) && own[at + 1]?.text === ':') typed = true;
      if (token.text === ']' || token.text === ';') typed = false;
      continue;
    }
    if (token.kind !== 'string' || before?.text === 'from' || before?.text === 'import') continue;
    let { text } = token;
    while (own[at + 1]?.text === '+' && own[at + 2]?.kind === 'string') text += own[(at += 2)]?.text ?? '';
    const key = keyOf(text);
    texts.all.add(key);
    // The name of a symbol, `Symbol.for('…')`, is none of them.
    const isTagged = before?.text === 't' && before.end === token.start;
    const isLooked = before?.text === '(' && earlier?.text === 'say';
    if (isTagged || isLooked) texts.said.add(key);
    else if (isWorded(key) && !typed && !(before?.text === '(' && earlier?.text === 'for')) {
      const isRead = before?.text === ':' && READ.has(earlier?.text ?? '');
      const isDescribed = before?.text === '(' && earlier?.text === 'describe';
      if (constant || isRead || isDescribed) texts.known.add(key);
    }
  }
  return texts;
}

/**
 * What a file with markup says: its messages and plurals alone, since the marks of elements are no TypeScript to who reads
 * tokens.
 */
export function spokenIn(source: string): string {
  const spoken: string[] = [];
  const begin = /(?<![\w.$])(?:t`|plural\()/g;
  for (let found = begin.exec(source); found !== null; found = begin.exec(source)) {
    const end = endOf(source, begin.lastIndex - 1);
    spoken.push(source.slice(found.index, end));
    begin.lastIndex = end;
  }
  return spoken.join(';\n');
}

/** Where a template, a string or what stands in brackets ends, with all that is inside of it. */
function endOf(source: string, start: number): number {
  const open = source[start] ?? '';
  const isText = '\'"`'.includes(open);
  const close = open === '(' ? ')' : open === '{' ? '}' : open;
  let at = start + 1;
  while (at < source.length && source[at] !== close) {
    const next = source[at] ?? '';
    const isInside = isText
      ? next === '{' && open === '`' && source[at - 1] === '$'
      : '\'"`({'.includes(next);
    if (isInside) at = endOf(source, at);
    else at += next === '\\' ? 2 : 1;
  }
  return at + 1;
}

/** Whether a declaration begins a line: those inside of functions are indented. */
function isOutside(source: string, own: readonly Token[], name: number): boolean {
  const first = own[name - 2]?.text === 'export' ? own[name - 2] : own[name - 1];
  return first !== undefined && (first.start === 0 || source[first.start - 1] === '\n');
}

/** `plural(count, 'agent')` makes two texts, or those it names. */
function pluralTexts(own: readonly Token[]): string[] {
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

/** The key of a text: as it is written, with numbers for what comes in. */
function keyOf(text: string): string {
  let number = 0;
  return text.replaceAll(HOLE, () => `{${number++}}`);
}

/** Parts of patterns, statements of SQL, paths and addresses. */
const NOT_WORDS =
  /^(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|WITH|BEGIN|COMMIT|ROLLBACK|FROM|WHERE|ORDER|AND|ON)\b|^(?:\.{0,2}\/|https?:|node:|[\w-]+\/[\w./-]+$)|[\\^$]\(|\(\?[:!=<]|=>|^[a-z]+(?:[-_][a-z]+)+ /;

/** More than a name: two words at least, or one in brackets or with the mark of a sentence. */
function isWorded(key: string): boolean {
  if (NOT_WORDS.test(key)) return false;
  const fixed = key.replaceAll(/\{(?:n|\d+)\}/g, ' ');
  const words = fixed.match(/(?<![\w.\-/])[\p{L}’']*\p{Ll}{2,}[\p{L}’']*(?![\w\-/]*[\w/])/gu) ?? [];
  if (words.length >= 2) return true;
  return words.length === 1 && (/\{(?:n|\d+)\}/.test(key) || /^\(.*\)$|[.!?…]$/.test(key.trim()));
}

/** Folders and files whose texts go to models, to other programs or into files, and not to people at a terminal. */
const FOR_OTHERS: readonly string[] = [
  'surfaces/mcp/',
  'surfaces/http/',
  'surfaces/a2a/',
  'surfaces/cli/completion.ts',
  'page/',
  'language/',
  'meaning/analyse.ts',
  'meaning/vectors.ts',
  'meaning/lexicon.ts',
  'services/delegation/',
  'services/delivery/',
  'services/search/',
  'services/handover/compose.ts',
  'services/progress/rules.ts',
  'services/progress/workers.ts',
  'services/memory/sqlite/',
  'services/codebase/chunks.ts',
  'operations/client/',
  'operations/generation-words.ts',
  'operations/activation/',
  'operations/unified/',
  'kit/museum/museum-write.ts',
  'readers/help.ts',
  'base/http/',
  'base/process/git.ts',
  'base/text/agent-titles.ts',
  'services/codebase/words.ts',
  'base/text/message.ts',
];

export function isForPeople(file: string): boolean {
  return !FOR_OTHERS.some((path) => file.startsWith(path));
}

/** A place for what comes in. */
const PLACES = /\{(?:n|\d+)\}/g;

/** A file of the catalogue: its name, and the French texts by the English ones. */
export type CatalogueFiles = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface Sources {
  /** Every text of the code, as a key. */
  all: ReadonlySet<string>;
  /** Those that people read, with a file that has each. */
  read: ReadonlyMap<string, string>;
  /** Those that people may see and that stay English all the same. */
  kept: readonly string[];
}

/** Everything that is wrong with the catalogue, one line each. */
export function problemsOf(files: CatalogueFiles, { all, read, kept }: Sources): string[] {
  const known = new Map<string, string>();
  const problems: string[] = [];
  for (const [file, entries] of Object.entries(files))
    for (const [english, french] of Object.entries(entries)) {
      const before = known.get(english);
      if (before !== undefined) problems.push(`${file}: also in ${before}: ${english}`);
      known.set(english, file);
      problems.push(...entryProblems(english, french).map((problem) => `${file}: ${problem}: ${english}`));
    }
  const stays = new Set(kept);
  for (const [english, file] of read)
    if (!known.has(english) && !stays.has(english)) problems.push(`missing (${file}): ${english}`);
  for (const [english, file] of known) if (!all.has(english)) problems.push(`${file}: unused: ${english}`);
  for (const english of kept) {
    if (!all.has(english)) problems.push(`kept.json: unused: ${english}`);
    if (known.has(english)) problems.push(`kept.json: has a French text: ${english}`);
  }
  return problems;
}

const placesOf = (text: string): string =>
  [...new Set(text.match(PLACES))].sort((one, other) => (one < other ? -1 : 1)).join(' ');

function entryProblems(english: string, french: string): string[] {
  const plain = french.replaceAll(/"[^"]*"/g, '');
  return [
    ...(placesOf(english) === placesOf(french) ? [] : ['the places differ']),
    ...(french.trim() === '' ? ['empty'] : []),
    ...(/\p{L}'\p{L}/u.test(plain) ? ['a straight apostrophe'] : []),
    ...(/ [:;!?»%](?!\/)/.test(plain) || /« /.test(plain) ? ['a plain space where none may break'] : []),
  ];
}
