import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from '../../tests/support/app.ts';
import { brought } from './compare.ts';
import {
  type Block,
  blocksOf,
  exchangesOf,
  type Figures,
  figuresBrought,
  isOutput,
  withBlocks,
} from './markers.ts';
import { type Running, Story } from './story.ts';

/** The pages whose transcripts and figures are real. */
export async function pagesToRun(): Promise<string[]> {
  const guides = (await readdir(join(repository, 'docs/guide'), { recursive: true })).filter((name) =>
    name.endsWith('.md'),
  );
  return ['README.md', ...guides.sort().map((name) => `docs/guide/${name}`)];
}

export async function readPage(page: string): Promise<string> {
  return (await readFile(join(repository, page), 'utf8')).replaceAll('\r\n', '\n');
}

/** Blocks that show what a program answers, and do not say how it was asked. */
export function unmarked(text: string): Block[] {
  return blocksOf(text).filter((block) => isOutput(block) && block.marker === undefined);
}

const trimmed = (lines: readonly string[]): string[] => {
  const text = lines.join('\n').replace(/^\n+|\n+$/g, '');
  return text === '' ? [] : text.split('\n');
};

/** JSON that comes on one line can be shown on several. */
const formatted = (lines: string[], form: string | undefined): string[] =>
  form === 'json' ? JSON.stringify(JSON.parse(lines.join('\n')), undefined, 2).split('\n') : lines;

/** What one exchange has to show; the empty lines around it stay as they are. */
async function exchangeBrought(
  story: Story,
  block: Block,
  input: string,
  output: readonly string[],
  source: string,
): Promise<string[]> {
  const shown = trimmed(output);
  const { marker } = block;
  const answer = async (): Promise<string[]> => {
    if (marker?.kind === 'call') return story.call(input, shown.length === 0);
    if (marker?.kind === 'ask') return story.ask(input, marker.options.get('as') === 'line');
    if (marker?.kind === 'serve') return story.serve(input);
    if (marker?.kind === 'script') return story.script(input === '' ? source : input);
    return story.run(input, marker?.options.get('only'));
  };
  const lines = formatted(await answer(), marker?.options.get('as'));
  if (shown.length === 0 && block.lines.length > 0) return [...output];
  const before = output.findIndex((line) => line !== '');
  const after = output.length - 1 - output.findLastIndex((line) => line !== '');
  const blanks = (count: number): string[] => Array.from({ length: Math.max(0, count) }, () => '');
  return [...blanks(before), ...brought(shown, lines), ...blanks(shown.length === 0 ? 0 : after)];
}

async function blockBrought(story: Story, block: Block, source: string): Promise<string[]> {
  const lines: string[] = [];
  for (const { input, output } of exchangesOf(block)) {
    if (block.marker?.text === '' && block.marker.kind !== 'script') lines.push(input);
    lines.push(...(await exchangeBrought(story, block, input, output, source)));
  }
  return lines;
}

/** The page as the programs of today make it. */
export async function pageBrought(
  text: string,
  figures: Figures,
  transcripts: boolean,
  how?: Running,
): Promise<string> {
  const changes = new Map<Block, string[]>();
  const stories = new Map<string, Story>();
  try {
    let source = '';
    for (const block of transcripts ? blocksOf(text) : []) {
      if (block.language === 'ts') source = block.lines.join('\n');
      if (block.marker === undefined || block.marker.kind === 'not') continue;
      const { kind, sample, options, text: command } = block.marker;
      const story = stories.get(sample) ?? (await Story.open(sample, how));
      stories.set(sample, story);
      const as = options.get('as');
      if (kind === 'before' && as === 'serve') await story.serve(command);
      else if (kind === 'before' && as === 'call') await story.call(command, true);
      else if (kind === 'before') await story.prepare(command);
      else if (kind === 'file') await story.write(command, block.lines);
      else changes.set(block, await blockBrought(story, block, source));
    }
  } finally {
    for (const story of stories.values()) await story.close();
  }
  return figuresBrought(withBlocks(text, changes), figures);
}
