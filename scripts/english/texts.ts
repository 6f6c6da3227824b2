import { HOLE, tokensOf, type Token } from './tokens.ts';

/** A text that people read, with the place in its file of each character. */
export interface Text {
  text: string;
  places: number[];
}

const textOf = (token: Token): Text => ({ text: token.text, places: [...token.places] });

/** Strings that are put together with `+` are one sentence, written on several lines. */
function joined(tokens: readonly Token[]): Text[] {
  const found: Text[] = [];
  const taken = new Set<Token>();
  for (const first of tokens) {
    if (first.kind !== 'string' || taken.has(first)) continue;
    const whole = textOf(first);
    for (let last: Token = first; ;) {
      const [plus, next] = tokens.filter((token) => token.start >= last.end).slice(0, 2);
      if (plus?.text !== '+' || next?.kind !== 'string') break;
      whole.text += next.text;
      whole.places.push(...next.places);
      taken.add(next);
      last = next;
    }
    found.push(whole);
  }
  return found;
}

/** What TypeScript says to people: its strings and templates. */
export function stringsOf(source: string): Text[] {
  return joined(tokensOf(source).filter((token) => token.kind !== 'comment'));
}

export function commentsOf(source: string): Text[] {
  const comments = tokensOf(source).filter((token) => token.kind === 'comment');
  return comments.map((comment) => {
    const text = comment.text.replace(/^[\t ]*\*+|^\/[/*]+/gm, (start) => ' '.repeat(start.length));
    return { text, places: [...comment.places] };
  });
}

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');
const holes = (text: string): string => text.replace(/[^\n]/g, HOLE);

/** The prose of a page: code, addresses and comments are blanked, and a paragraph does not flow into the next. */
export function proseOf(page: string): Text[] {
  const text = page
    .replace(/^---\n[\s\S]*?\n---\n/, blank)
    .replace(/^( *)(`{3,}|~{3,})[\s\S]*?^\1\2`*$/gm, blank)
    .replace(/<!--[\s\S]*?-->/g, blank)
    .replace(/(`+)(?:(?!\1)[\s\S])+?\1/g, holes)
    .replace(/\]\([^)\s]*\)/g, blank)
    .replace(/https?:\/\/\S+/g, holes)
    .replace(/\n(?=[\t ]*(?:\n|[-*#|>]|\d+\. ))/g, '¶');
  return [{ text, places: Array.from({ length: text.length }, (_, place) => place) }];
}
