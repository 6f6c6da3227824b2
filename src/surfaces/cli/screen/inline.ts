import { span, type Line, type Span, type Style } from './lines.ts';

/** Nobody emphasises words in longer lines; they are data. */
const LONGEST = 20_000;
const ADDRESS_START = /https?:\/\//y;
const ADDRESS = /[^\s<>"'`)\]]+/y;
const MARKS: readonly (readonly [mark: string, style: Style])[] = [
  ['**', 'strong'],
  ['__', 'strong'],
  ['~~', 'struck'],
  ['*', 'emphasis'],
  ['_', 'emphasis'],
];

/**
 * The spans of one line of Markdown. Every search either finds what it takes or is not made again, so the time is in
 * proportion to the length.
 */
export function inline(text: string, style?: Style): Line {
  if (text.length > LONGEST) return [span(text, style)];
  const spans: Span[] = [];
  const unclosed = new Set<string>();
  let plain = '';
  const flush = (): void => {
    if (plain !== '') spans.push(span(plain, style));
    plain = '';
  };
  for (let at = 0; at < text.length;) {
    const found =
      codeAt(text, at, unclosed) ??
      markedAt(text, at, unclosed) ??
      linkAt(text, at, unclosed) ??
      addressAt(text, at);
    if (found === undefined) {
      const escaped = text[at] === '\\' && /[*_`|[\]#~]/.test(text[at + 1] ?? '');
      plain += text.charAt(escaped ? at + 1 : at);
      at += escaped ? 2 : 1;
      continue;
    }
    flush();
    spans.push(...found.spans);
    at = found.end;
  }
  flush();
  return spans;
}

interface StyledPart {
  spans: Line;
  end: number;
}

/** Where a mark ends what it began; asked for no second time once there is no end. */
function closing(text: string, mark: string, from: number, unclosed: Set<string>): number {
  if (unclosed.has(mark)) return -1;
  for (let at = text.indexOf(mark, from); at !== -1; at = text.indexOf(mark, at + mark.length)) {
    if (mark.startsWith('`') || mark === '](' || mark === ')') return at;
    const before = text.charAt(at - 1);
    const after = text.charAt(at + mark.length);
    // One mark is no half of two.
    const half = mark.length === 1 && (after === mark || before === mark);
    if (!/\s/.test(before) && !half && (mark !== '_' || !/\w/.test(after))) return at;
  }
  unclosed.add(mark);
  return -1;
}

function codeAt(text: string, at: number, unclosed: Set<string>): StyledPart | undefined {
  if (text[at] !== '`') return undefined;
  const mark = text.startsWith('``', at) ? '``' : '`';
  const end = closing(text, mark, at + mark.length, unclosed);
  if (end <= at + mark.length) return undefined;
  return { spans: [span(text.slice(at + mark.length, end), 'name')], end: end + mark.length };
}

function markedAt(text: string, at: number, unclosed: Set<string>): StyledPart | undefined {
  const [mark, style] = MARKS.find(([each]) => text.startsWith(each, at)) ?? [];
  if (mark === undefined) return undefined;
  const begins = /\S/.test(text.charAt(at + mark.length));
  // Names such as `run_id` and products such as `2*3` are no emphasis.
  const inWord = mark.length === 1 && /[\w*]/.test(text.charAt(at - 1));
  if (!begins || inWord) return undefined;
  const end = closing(text, mark, at + mark.length, unclosed);
  if (end <= at + mark.length) return undefined;
  return { spans: inline(text.slice(at + mark.length, end), style), end: end + mark.length };
}

/** `[words](address)`; the address is shown, so that nobody is led where they do not see. */
function linkAt(text: string, at: number, unclosed: Set<string>): StyledPart | undefined {
  if (text[at] !== '[') return undefined;
  const middle = closing(text, '](', at + 1, unclosed);
  const end = middle === -1 ? -1 : closing(text, ')', middle + 2, unclosed);
  const words = text.slice(at + 1, middle);
  const target = text.slice(middle + 2, end);
  if (end === -1 || words.includes('[') || target.includes(' ')) return undefined;
  const address = addressAt(target, 0)?.spans ?? [span(target, 'muted')];
  return {
    spans: words === target ? address : [span(words), span(' (', 'muted'), ...address, span(')', 'muted')],
    end: end + 1,
  };
}

function addressAt(text: string, at: number): StyledPart | undefined {
  ADDRESS_START.lastIndex = at;
  if (!ADDRESS_START.test(text)) return undefined;
  ADDRESS.lastIndex = at;
  const [found = ''] = ADDRESS.exec(text) ?? [];
  const address = found.replace(/[.,;:!?]$/, '');
  return { spans: [{ ...span(address, 'link'), link: address }], end: at + address.length };
}
