import {
  Composer,
  type CST,
  type Document,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  Parser,
  type Tags,
  visit,
} from 'yaml';
import { ParseError } from '../errors.ts';
import { t } from '../text/message.ts';
import { NESTING_LIMIT } from './json.ts';

/** Signs, words and spaces of a text. No one writes as many, and many more would fill the memory. */
const TOKEN_LIMIT = 1_000_000;
/** How often one anchor may be referred to: what is parsed is walked through once for each. */
export const MOST_ALIASES = 100;
/** References times characters: each may stand for nearly all of the text. */
const MOST_ALIAS_WORK = 30_000_000;
/** Comes before the source of a scalar, which may begin like an alias. */
const SCALAR = '\u001F';
/** Its check for twins compares each key with each. */
const SLOW_TAG = 'tag:yaml.org,2002:omap';

type FailAt = (offset: number, reason: string) => never;

interface ComposedYaml {
  document: Document.Parsed | undefined;
  failAt: FailAt;
}

/** A text as nodes that know their positions; throws if the text is invalid. */
export function composedYaml(file: string, clean: string, unresolved: 'refused' | 'kept'): ComposedYaml {
  // The first is the one that is told: the parser takes it for one of its own, and passes it on from each level.
  let failure: ParseError | undefined;
  const failAt: FailAt = (offset, reason) => {
    throw (failure ??= new ParseError(file, lineAt(clean, offset), firstLine(reason)));
  };
  const composer = new Composer({
    prettyErrors: false,
    uniqueKeys: false,
    // Warnings would quote the file on the error stream of the server.
    logLevel: 'error',
    resolveKnownTags: false,
    customTags: (tags): Tags => tags.filter((tag) => typeof tag === 'string' || tag.tag !== SLOW_TAG),
  });
  // It would collect all errors, each with a stack, which takes far longer than to parse the text: one is enough.
  Object.assign(composer, {
    onError(source: ErrorSource, _code: string, reason: string, isWarning?: boolean) {
      if (isWarning !== true) failAt(offsetOf(source), reason);
    },
  });
  const tokens = yamlTokens(lexemesOf(file, clean, unresolved), unresolved, failAt);
  const [document] = composer.compose(tokens, true, clean.length);
  const error = document?.errors[0];
  if (error !== undefined) failAt(error.pos[0], error.message);
  return { document, failAt };
}

type ErrorSource = number | readonly [number, number] | { offset: number };

function offsetOf(source: ErrorSource): number {
  if (typeof source === 'number') return source;
  return 'offset' in source ? source.offset : source[0];
}

function* yamlTokens(
  lexemes: readonly string[],
  unresolved: 'refused' | 'kept',
  failAt: FailAt,
): Generator<CST.Token, void> {
  const parser = new Parser();
  const anchors = new Set<string>();
  // Only the first document is used, and an alias of another one refers to that.
  let looksAtAliases = unresolved === 'refused';
  for (const lexeme of lexemes) {
    for (const token of parser.next(lexeme)) {
      if (token.type === 'error') failAt(token.offset, `${token.message}: ${JSON.stringify(token.source)}`);
      if (token.type === 'document') looksAtAliases = false;
      yield token;
    }
    if (parser.stack.length > NESTING_LIMIT) failAt(parser.offset, t`nested too deeply`);
    if (lexeme.startsWith('&')) anchors.add(lexeme.slice(1));
    if (looksAtAliases && lexeme.length > 1 && lexeme.startsWith('*') && !anchors.has(lexeme.slice(1)))
      failAt(
        parser.offset - 1,
        t`Unresolved alias (the anchor must be set before the alias): ${lexeme.slice(1)}`,
      );
  }
  yield* parser.end();
}

/** All of them first: a text that is too long, or refers too often to itself, is refused before more is made of it. */
function lexemesOf(file: string, text: string, unresolved: 'refused' | 'kept'): readonly string[] {
  const lexemes: string[] = [];
  const uses = new Map<string, number>();
  let aliases = 0;
  for (const lexeme of new Lexer().lex(text)) {
    const name = lexemes.at(-1) === SCALAR ? '' : lexeme.slice(1);
    lexemes.push(lexeme);
    if (name !== '' && lexeme.startsWith('&')) uses.set(name, 0);
    if (name !== '' && lexeme.startsWith('*') && unresolved === 'refused') {
      aliases += 1;
      uses.set(name, (uses.get(name) ?? 0) + 1);
      if ((uses.get(name) ?? 0) >= MOST_ALIASES || aliases * text.length > MOST_ALIAS_WORK)
        throw new ParseError(file, undefined, t`too many aliases`);
    }
    if (lexemes.length > TOKEN_LIMIT)
      throw new ParseError(file, undefined, t`too long: more than ${TOKEN_LIMIT} tokens`);
  }
  return lexemes;
}

/** Keys must be unique. The parser's own check compares each with each, which takes minutes for a long file. */
export function refuseTwins(document: Document.Parsed, failAt: FailAt): void {
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) failAt(key.range?.[0] ?? 0, t`Map keys must be unique`);
        seen.add(key.value);
      }
    },
  });
}

export function firstLine(message: string): string {
  return message.split('\n', 1)[0]?.slice(0, 200) ?? '';
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

type YamlScalar = string | number | boolean | null;

/** One pair of a YAML mapping and its position in the text: edits by position leave the rest unchanged. */
export interface YamlPair {
  key: string;
  /** Line of the key, the first being 1. */
  line: number;
  /** Where the key begins. */
  at: number;
  /** A text, number and the like; nothing for a mapping, a list or a pair without a value. */
  value: YamlScalar | undefined;
  /** Where such a value can be replaced, its quotation marks included; nothing when it cannot be with safety. */
  place: { start: number; end: number; quote: '' | '"' | "'"; gap: string } | undefined;
  /** The pairs of a mapping. */
  pairs: YamlPair[];
  /** The pairs of each entry of a list of mappings. */
  items: YamlPair[][];
  /** The plain entries of a list. */
  list: YamlScalar[];
}

/** The pairs of a mapping with their positions, duplicate keys included; undefined if the text is not a mapping. */
export function yamlPairs(file: string, text: string): YamlPair[] | undefined {
  return guarded(file, () => {
    const clean = withoutBom(text);
    const lines = lineStarts(clean);
    const { document } = composedYaml(file, clean, 'kept');
    const shift = text.length - clean.length;
    return isMap(document?.contents) ? pairsOf(document.contents.items, { clean, lines, shift }) : undefined;
  });
}

interface Places {
  clean: string;
  lines: readonly number[];
  /** The byte order mark that was taken off. */
  shift: number;
}

function pairsOf(items: readonly unknown[], places: Places): YamlPair[] {
  return items.flatMap((item) => {
    if (!isPair(item) || !isScalar(item.key) || !item.key.range) return [];
    const { key, value } = item;
    const [at, keyEnd] = key.range ?? [0, 0];
    const list = isSeq(value) ? value.items : [];
    return [
      {
        key: String(plain(key.value)),
        line: lineOf(places.lines, at),
        at: at + places.shift,
        value: isScalar(value) ? plain(value.value) : undefined,
        place: placeOf(value, keyEnd, places),
        pairs: isMap(value) ? pairsOf(value.items, places) : [],
        items: list.flatMap((entry) => (isMap(entry) ? [pairsOf(entry.items, places)] : [])),
        list: list.flatMap((entry) => (isScalar(entry) ? [plain(entry.value)] : [])),
      },
    ];
  });
}

/** Values of other types come from tags, which ledgers do not have; as text they are not a status of any kind. */
function plain(value: unknown): YamlScalar {
  return typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    value === null
    ? value
    : typeof value;
}

function placeOf(value: unknown, keyEnd: number, { clean, shift }: Places): YamlPair['place'] {
  if (!isScalar(value) || value.anchor !== undefined || value.tag !== undefined) return undefined;
  const [start = 0, end = 0] = value.range ?? [];
  const source = clean.slice(start, end);
  if (source === '') {
    const colon = clean.indexOf(':', keyEnd) + 1;
    return colon === 0 ? undefined : { start: colon + shift, end: colon + shift, quote: '', gap: ' ' };
  }
  const quote = source.startsWith('"') ? '"' : source.startsWith("'") ? "'" : '';
  if (/[\r\n]/.test(source) || /^[|>]/.test(source)) return undefined;
  return { start: start + shift, end: end + shift, quote, gap: '' };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** The number of the line that has this offset, the first being 1. */
function lineOf(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function withoutBom(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** Parsers may overflow the stack on hostile nesting; that too is a problem with the file, not with the server. */
export function guarded<T>(file: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ParseError) throw error;
    throw new ParseError(
      file,
      undefined,
      error instanceof Error ? firstLine(error.message) : t`cannot be parsed`,
    );
  }
}
