import { HOLE, tokensOf, type Token } from '../../scripts/english/tokens.ts';

/** A test as its file declares it: the titles of the groups around it, outermost first, then its own. */
export type TestPath = readonly string[];

const DECLARES = /^(?:it|test|describe)$/;
const TAKES_MORE = /^(?:each|for|skipIf|runIf)$/;
const NEVER_RUNS = /^(?:skip|todo)$/;

/** The place after the bracket that closes the one at `open`. */
function afterClosing(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token?.kind !== 'code') continue;
    if (/^[([{]$/.test(token.text)) depth += 1;
    if (/^[)\]}]$/.test(token.text)) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return tokens.length;
}

/** Where the arguments of `it`, `it.each(rows)` and the like begin: at the bracket before the title. */
function argumentsOf(tokens: readonly Token[], word: number): number | undefined {
  let at = word + 1;
  while (tokens[at]?.text === '.') {
    const name = tokens[at + 1]?.text ?? '';
    if (NEVER_RUNS.test(name)) return undefined;
    at = TAKES_MORE.test(name) ? afterClosing(tokens, at + 2) : at + 2;
  }
  return tokens[at]?.kind === 'code' && tokens[at]?.text === '(' ? at : undefined;
}

/** All tests that a file declares, read from its text. Templates stay as they are written, a `${}` is `…`. */
export function testsIn(source: string): TestPath[] {
  const tokens = tokensOf(source).filter(({ kind }) => kind !== 'comment');
  const found: TestPath[] = [];
  let groups: { title: string; until: number }[] = [];
  tokens.forEach((token, place) => {
    if (token.kind !== 'code' || !DECLARES.test(token.text) || tokens[place - 1]?.text === '.') return;
    const open = argumentsOf(tokens, place);
    const first = open === undefined ? undefined : tokens[open + 1];
    if (open === undefined || first?.kind !== 'string') return;
    const title = first.text.replaceAll(HOLE, '…');
    groups = groups.filter(({ until }) => until > place);
    if (token.text === 'describe') groups.push({ title, until: afterClosing(tokens, open) });
    else found.push([...groups.map((group) => group.title), title]);
  });
  return found;
}
