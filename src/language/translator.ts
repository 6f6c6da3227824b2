import { keyWord, match, patternOf, wordsOf, type Pattern } from './pattern.ts';
import { saidAround } from '../base/text/text.ts';
import { framed, isRow, listOf, PLACE } from './template.ts';

/** English texts and what they are in another language; both have the same places for what comes in. */
export type Catalogue = Readonly<Record<string, string>>;

/** Says a text in another language; what it does not know stays as it is. */
export type Words = (text: string) => string;

/** Longer lines are data. */
const LONGEST = 4_000;
const MOST_PIECES = 28;
const DEEPEST = 5;
const COLUMNS = /( {2,})/;
/** Where a line can be taken apart, with what is between the pieces. */
const PIECES = /(?<=[.!?:;)…])(\s+)(?=\S)|( · | — )/;
/** The same for what is put behind a sentence: `, 2 of 3 steps (66 %); also open: r-1`. */
const TAILS = /()(?=[,;] )|( )(?=\()/;
const COMMAND = ': bmad ';
const COMMAND_LINE = /^bmad(?:-mcp-server)? /;
/** Stands for a command while the words around it are looked up: it has no letters, so nothing is said of it. */
const HELD = '\u{E000}';
/** `task      Work queued for sub-agents`: how a command is typed, and what it does. */
const TYPED_COLUMN = /^\p{Ll}\S* {2,}\S/u;
const RULER = /^\|[-:| ]+\|$/;

/** What is put behind a text and belongs to no entry, and how it is written in the other language. */
const ENDS: readonly (readonly [english: string, other: string])[] = [
  [':', '\u00A0:'],
  [';', '\u00A0;'],
  [' …', '\u00A0…'],
  ['.', '.'],
  [',', ','],
];

export function translator(catalogue: Catalogue): Words {
  const exact = new Map<string, string>();
  const byWord = new Map<string, Pattern[]>();
  for (const [english, other] of Object.entries(catalogue)) {
    if (!PLACE.test(english)) {
      exact.set(english, other);
      continue;
    }
    const pattern = patternOf(english, other);
    const word = keyWord(pattern) ?? '';
    const known = byWord.get(word);
    if (known === undefined) byWord.set(word, [pattern]);
    else known.push(pattern);
  }

  /** The pattern that says most of a text, with what comes in said too. */
  function patterned(text: string, depth: number): string | undefined {
    if (depth > DEEPEST) return undefined;
    let best: { pattern: Pattern; found: string[] } | undefined;
    for (const word of ['', ...wordsOf(text)])
      for (const pattern of byWord.get(word) ?? []) {
        if (best !== undefined && best.pattern.weight >= pattern.weight) continue;
        const found = match(pattern, text);
        if (found !== undefined) best = { pattern, found };
      }
    if (best === undefined) return undefined;
    const { pattern, found } = best;
    return pattern.said
      .map((part) => (typeof part === 'string' ? part : inside(found[part] ?? '', depth + 1)))
      .join('');
  }

  /** An entry that is the whole of a text, up to a mark at its end; help begins entries with a small letter. */
  function whole(text: string, depth: number): string | undefined {
    const ends = ENDS.filter(([end]) => text.length > end.length && text.endsWith(end));
    const forms = [['', ''] as const, ...ends].map(
      ([end, written]) => [text.slice(0, text.length - end.length), written] as const,
    );
    for (const [own, written] of forms) {
      const known = exact.get(own) ?? lowered(exact.get(raised(own)), own);
      if (known !== undefined) return known + written;
    }
    // No entry ends with a colon, so it is never a part of what comes in at the end.
    for (const [own, written] of text.endsWith(':') ? forms.toReversed() : forms) {
      const known = patterned(own, depth);
      if (known !== undefined) return known + written;
    }
    const capital = raised(text);
    return capital === text ? undefined : lowered(patterned(capital, depth), text);
  }

  /** What came in: a phrase of ours is said too; a name, or what somebody wrote, is not. */
  function inside(text: string, depth: number): string {
    const trimmed = text.trim();
    const phrase = /\p{L}/u.test(trimmed) && /\s|^[,;:(]/.test(trimmed) && !/^["«'`]/.test(trimmed);
    // A command is copied, and is never said otherwise.
    if (!phrase || COMMAND_LINE.test(trimmed)) return text;
    const at = text.indexOf(trimmed);
    return text.slice(0, at) + said(trimmed, depth) + text.slice(at + trimmed.length);
  }

  /** A text of one entry or of several. */
  function said(text: string, depth: number): string {
    if (depth > DEEPEST) return text;
    const own = whole(text, depth) ?? bracketed(text, depth, true);
    if (own !== undefined) return own;
    const tails = /^[,;(]/.test(text) ? pieced(text, TAILS, depth) : text;
    return tails === text ? pieced(text, PIECES, depth) : tails;
  }

  /** As many pieces of a text together as are one entry. */
  function pieced(text: string, between: RegExp, depth: number): string {
    const pieces = text.split(between).filter((piece) => piece !== undefined);
    if (pieces.length < 3 || pieces.length > MOST_PIECES) return parted(text, depth) ?? text;
    let result = '';
    for (let from = 0; from < pieces.length;) {
      let to = from === 0 ? pieces.length - 2 : pieces.length;
      let found: string | undefined;
      for (; to > from; to -= 2) {
        found = whole(pieces.slice(from, to).join(''), depth);
        if (found !== undefined) break;
      }
      if (found === undefined) {
        to = from + 1;
        const piece = pieces[from] ?? '';
        found = parted(piece, depth) ?? piece;
      }
      result += found + (pieces[to] ?? '');
      from = to + 1;
    }
    return result;
  }

  const parted = (text: string, depth: number): string | undefined =>
    counted(text, depth) ?? bracketed(text, depth) ?? within(text, depth) ?? behind(text, depth);

  /** `a description (repeatable)`, `a setting [its default]`; `known` if what is before has to be an entry. */
  function bracketed(text: string, depth: number, known = false): string | undefined {
    const end = ENDS.find(([mark]) => text.endsWith(`)${mark}`));
    const body = end === undefined ? text : text.slice(0, -end[0].length);
    const at = /[)\]]$/.test(body) ? body.lastIndexOf(body.endsWith(')') ? ' (' : ' [') : -1;
    if (at < 1) return undefined;
    const [before, last] = [body.slice(0, at), body.slice(at + 1)];
    const [one, other] = [whole(before, depth), whole(last, depth) ?? within(last, depth)];
    if (one === undefined && (known || other === undefined)) return undefined;
    return `${one ?? before} ${other ?? last}${end?.[1] ?? ''}`;
  }

  /** `5 agents, 22 workflows`, `running, 2 steps done`: a list that counts something of ours is ours. */
  function counted(text: string, depth: number): string | undefined {
    const listed = listOf(text);
    if (listed.length < 2 || listed.length > MOST_PIECES) return undefined;
    const each = listed.map((piece) => whole(piece, depth) ?? bracketed(piece, depth));
    return listed.some((piece, place) => /^\d/.test(piece) && each[place] !== undefined)
      ? each.map((piece, place) => piece ?? listed[place]).join(', ')
      : undefined;
  }

  /** What is in brackets. */
  function within(text: string, depth: number): string | undefined {
    if (!/^[([].*[)\]]$/.test(text)) return undefined;
    const own = text.slice(1, -1);
    const inner = whole(own, depth) ?? counted(own, depth);
    return inner === undefined ? undefined : text.charAt(0) + inner + text.slice(-1);
  }

  /** `, 2 of 3 steps`: a phrase with the mark that joins it to what is before it. */
  function behind(text: string, depth: number): string | undefined {
    const [, mark, rest = ''] = /^([,;]) (\S+ .+)$/.exec(text) ?? [];
    const own = rest === '' ? undefined : (whole(rest, depth) ?? bracketed(rest, depth));
    return own === undefined ? undefined : `${mark === ';' ? '\u00A0;' : ','} ${own}`;
  }

  /** Columns stay where they began, as far as there is room. A word alone is a name, and so is how a command is typed. */
  function columns(text: string): string {
    let [result, end] = ['', 0];
    for (const [at, piece] of text.split(COLUMNS).entries()) {
      end += piece.length;
      if (at % 2 === 1) result = result.padEnd(Math.max(end, result.length + 2));
      else if (at === 0) result += /^\p{Lu}/u.test(piece) ? said(piece, 0) : piece;
      else result += /\s/.test(piece) ? said(piece, 0) : piece;
    }
    return result;
  }

  function row(text: string, head: boolean): string {
    return text
      .split('|')
      .map((cell) => {
        const trimmed = cell.trim();
        return head || /\s/.test(trimmed) ? cell.replace(trimmed, () => said(trimmed, 0)) : cell;
      })
      .join('|');
  }

  /** What is said before a command; an entry may have the command in it. */
  function beside(text: string, command: string): string {
    const own = whole(text, 0);
    if (own !== undefined) return `${own}\u00A0: ${command}`;
    const name = COMMAND.slice(2);
    // `Build the story: dev-story by dev: bmad …`, where only the last part is of such an entry.
    const last = text.lastIndexOf(': ');
    for (const at of last === -1 ? [0] : [0, last + 2]) {
      const both = whole(`${text.slice(at)}${COMMAND}${HELD}`, 0);
      if (both?.includes(name + HELD) !== true) continue;
      const before = at === 0 ? '' : `${said(text.slice(0, at - 1), 0)} `;
      return before + both.replace(name + HELD, () => command);
    }
    return `${said(text, 0)}\u00A0: ${command}`;
  }

  function line(text: string, next = ''): string {
    if (text.length > LONGEST || !/\p{L}/u.test(text)) return text;
    if (isRow(text)) return row(text, RULER.test(next.trim()));
    const { before, words, after } = framed(text);
    const command = words.startsWith('Usage: ') ? -1 : words.indexOf(COMMAND);
    if (command > 0) return before + beside(words.slice(0, command), words.slice(command + 2)) + after;
    if (TYPED_COLUMN.test(words)) return before + columns(words) + after;
    const own = whole(words, 0);
    if (own !== undefined) return before + own + after;
    if (COLUMNS.test(words)) return before + columns(words) + after;
    // `**Project**: …`, where what is bold is an entry and what follows another.
    const [, bold, gap = '', rest = ''] = /^\*\*([^*]+)\*\*(:? )(.+)$/u.exec(words) ?? [];
    if (bold === undefined) return before + said(words, 0) + after;
    const colon = gap === ' ' ? ' ' : '\u00A0: ';
    const title = exact.get(bold);
    return `${before}**${title ?? bold}**${title === undefined ? gap : colon}${said(rest, 0)}${after}`;
  }

  const inLines: Words = (text) => {
    /** The fence that is open: what others wrote may have shorter ones in it. */
    let open: string | undefined;
    return text
      .split('\n')
      .map((each, at, all) => {
        const fence = /^\s*(`{3,}|~{3,})/.exec(each)?.[1];
        if (open === undefined) open = fence;
        else if (fence?.startsWith(open) === true) open = undefined;
        return (open ?? fence) === undefined ? line(each, all[at + 1]) : each;
      })
      .join('\n');
  };
  return (text) => saidAround(text, inLines);
}

const raised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** With a small first letter, if the English has one. */
function lowered(text: string | undefined, english: string): string | undefined {
  if (text === undefined || raised(english) === english) return text;
  return text.charAt(0).toLowerCase() + text.slice(1);
}
