import { t } from '../text/message.ts';
import { Composer, isScalar, Lexer, Parser, visit, type CST, type Document, type Tags } from 'yaml';
import { ParseError } from '../expected.ts';
import { NESTING_LIMIT } from './nesting.ts';

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

export type FailAt = (offset: number, reason: string) => never;

export interface ComposedYaml {
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
