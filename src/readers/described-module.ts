import { outline, withoutComments } from '../base/text/markdown.ts';
import { oneLine } from '../base/text/text.ts';
import type { Problem } from '../model/record.ts';
import type { Tree } from '../sources/tree.ts';
import { readable } from './reading.ts';

type Described = { name: string; description: string };

/** What the method's own modules call themselves; installers before 6.3 leave neither name nor description behind. */
const OFFICIAL = new Map<string, Described>([
  ['core', { name: 'BMad Core Module', description: 'Shared utilities across modules' }],
  ['bmm', { name: 'BMad Method', description: 'Agile AI-driven development' }],
  ['bmb', { name: 'BMad Builder', description: 'Create, edit and validate agents, workflows and modules' }],
  [
    'cis',
    { name: 'Creative Intelligence Suite', description: 'Brainstorming, design thinking and storytelling' },
  ],
  [
    'bmgd',
    { name: 'BMad Game Development', description: 'Design and build games, from the idea to production' },
  ],
  [
    'gds',
    { name: 'BMad Game Dev Studio', description: 'Design and build games, from the idea to production' },
  ],
  ['tea', { name: 'Test Architect', description: 'Test strategy, automation and quality gates' }],
]);

const NAME_LENGTH = 80;
const DESCRIPTION_LENGTH = 300;

/** What a module is called and what it is for: by its README, else as the method knows it, else by its code. */
export async function describedModule(
  tree: Tree,
  code: string,
  onDisk: boolean,
  problems: Problem[],
): Promise<Described> {
  const official = OFFICIAL.get(code);
  const told = onDisk ? await fromReadme(tree, code, problems) : undefined;
  return {
    name: official?.name ?? told?.name ?? code,
    description: told?.description ?? official?.description ?? '',
  };
}

/** The heading, without the code in front of it and the word module behind; and the first paragraph below. */
async function fromReadme(tree: Tree, code: string, problems: Problem[]): Promise<Partial<Described>> {
  const text = withoutComments((await readable(tree, `${code}/README.md`, problems)) ?? '');
  const [top, next] = outline(text);
  if (top === undefined) return {};
  const [, ...lines] = text.slice(top.start, next?.start).split('\n');
  const paragraph =
    lines
      .join('\n')
      .trim()
      .split(/\n\s*\n/, 1)[0] ?? '';
  const title = oneLine(top.title, NAME_LENGTH);
  const named = title.toLowerCase().startsWith(`${code.toLowerCase()} - `)
    ? title.slice(code.length + 3)
    : title;
  const heading = named.toLowerCase().endsWith(' module') ? named.slice(0, -' module'.length) : named;
  const description = oneLine(paragraph.replaceAll(/[*`]/g, ''), DESCRIPTION_LENGTH);
  return {
    ...(heading === '' ? {} : { name: heading }),
    // A rule, a list, a table or a picture says nothing in one line.
    ...(/^\p{L}/u.test(description) ? { description } : {}),
  };
}
