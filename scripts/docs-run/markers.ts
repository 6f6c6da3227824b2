/** What a comment before a fenced block says about it. */
interface Marker {
  /**
   * `run` a command, `call` a tool, `serve` over HTTP, run a `script`, `ask` for a method of the
   * protocol, write a `file`; `not` has only a reason.
   * `before` has no block: it does something that readers need not see.
   */
  kind: 'run' | 'call' | 'serve' | 'script' | 'ask' | 'file' | 'before' | 'not';
  /** The prepared project it runs in. Blocks of one page that name the same one share it, in their order. */
  sample: string;
  /** Other words before the colon, such as `as=json`. */
  options: ReadonlyMap<string, string>;
  /** The command, where the block itself does not begin with it; the reason of `not run`. */
  text: string;
}

/** A fenced block of a page; one of `before` is empty. Line numbers count from 0 and name the fences. */
export interface Block {
  start: number;
  end: number;
  language: string;
  lines: string[];
  marker?: Marker;
}

const FENCE = /^(`{3,})\s*(\S*)/;
const MARKER = /^<!-- (not run|run|call|serve|script|ask|file|before)((?: [a-z]+=\S+)*)(?:: (.+?))? -->$/;

export function markerOf(line: string): Marker | undefined {
  const [, kind, words = '', text = ''] = MARKER.exec(line) ?? [];
  if (kind === undefined) return undefined;
  const options = new Map(
    words
      .split(' ')
      .filter((word) => word !== '')
      .map((word): [string, string] => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
  );
  return {
    kind: kind === 'not run' ? 'not' : (kind as Marker['kind']),
    sample: options.get('in') ?? 'empty',
    options,
    text,
  };
}

/** The fenced blocks of a page, each with the marker on the line before it. */
export function blocksOf(page: string): Block[] {
  const lines = page.split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const before = markerOf(lines[at] ?? '');
    if (before?.kind === 'before')
      blocks.push({ start: at, end: at, language: '-', lines: [], marker: before });
    const [, fence, language = ''] = FENCE.exec(lines[at] ?? '') ?? [];
    if (fence === undefined) continue;
    const length = lines.slice(at + 1).findIndex((line) => line.trimEnd() === fence);
    if (length < 0) break;
    const marker = markerOf(lines[at - 1] ?? '');
    const end = at + 1 + length;
    blocks.push({
      start: at,
      end,
      language,
      lines: lines.slice(at + 1, end),
      ...(marker === undefined || marker.kind === 'before' ? {} : { marker }),
    });
    at = end;
  }
  return blocks;
}

/** Commands and configuration are what a reader types; a block without a language is what a program answered. */
export function isOutput({ language, lines }: Block): boolean {
  return ['', 'text', 'console'].includes(language) || lines.some((line) => line.startsWith('$ '));
}

/** The page with other lines in its blocks, whose fences are longer than any in them. */
export function withBlocks(page: string, changes: ReadonlyMap<Block, readonly string[]>): string {
  const lines = page.split('\n');
  const last = [...changes].sort(([one], [other]) => other.start - one.start);
  for (const [{ start, end, language }, text] of last) {
    const inner = Math.max(0, ...text.map((line) => FENCE.exec(line)?.[1]?.length ?? 0));
    const fence = '`'.repeat(Math.max(3, inner + 1));
    lines.splice(start, end - start + 1, `${fence}${language}`, ...text, fence);
  }
  return lines.join('\n');
}

/** What a reader types in a block, and what came of it. */
interface Exchange {
  input: string;
  output: string[];
}

const CALL = /^(?:[a-z][\w-]* +)?\{.*\}$/;

/** Takes a block apart at the lines that are typed: `$ command`, or `tool {arguments}`. */
export function exchangesOf({ lines, marker }: Block): Exchange[] {
  if (marker !== undefined && marker.text !== '') return [{ input: marker.text, output: [...lines] }];
  const exchanges: Exchange[] = [];
  for (const line of lines)
    if (marker?.kind === 'call' ? CALL.test(line) : line.startsWith('$ '))
      exchanges.push({ input: line, output: [] });
    else if (exchanges.length === 0) exchanges.push({ input: '', output: [line] });
    else exchanges.at(-1)?.output.push(line);
  return exchanges;
}

/** Numbers that documents mention, by name. */
export type Figures = ReadonlyMap<string, number>;

const FIGURE = /(<!-- figure: (\S+) -->)([^<]*)(<!-- \/figure -->)/g;

/** 2,386: thousands are set apart. */
const written = (value: number): string => value.toLocaleString('en-GB');

/** The page with the numbers of today; a name that nothing measures is an error. */
export function figuresBrought(text: string, figures: Figures): string {
  return text.replace(FIGURE, (_, before: string, name: string, _now: string, after: string) => {
    const value = figures.get(name);
    if (value === undefined)
      throw new Error(`There is no figure "${name}". There are: ${[...figures.keys()].join(', ')}.`);
    return `${before}${written(value)}${after}`;
  });
}
