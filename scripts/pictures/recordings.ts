import { Story, type Running } from '../docs-run/story.ts';
import { svgOf } from './svg.ts';

/** A picture of what a command shows in a terminal, made by running it. */
export interface Recording {
  file: string;
  /** What it shows, for those who cannot see it. */
  title: string;
  /** The project it runs in, one of scripts/docs-run/samples. */
  sample: string;
  columns: number;
  commands: readonly string[];
}

export const RECORDINGS: readonly Recording[] = [
  {
    file: 'docs/images/next.svg',
    title: 'bmad next: where a project stands, and what comes next',
    sample: 'planned',
    columns: 92,
    commands: ['bmad next'],
  },
  {
    file: 'docs/images/agents.svg',
    title: 'bmad list agents: the agents that are served, as a table',
    sample: 'empty',
    columns: 100,
    commands: ['bmad list agents'],
  },
  {
    file: 'docs/images/search.svg',
    title: 'bmad search: what fits a wish, with the reason it was found',
    sample: 'empty',
    columns: 100,
    commands: ['bmad search "break my product down into stories" --limit 4'],
  },
  {
    file: 'docs/images/help.svg',
    title: 'bmad help memory: the commands of a group',
    sample: 'empty',
    columns: 92,
    commands: ['bmad help memory'],
  },
  {
    file: 'docs/images/next-fr.svg',
    title: 'bmad next en français : où en est le projet, et la suite',
    sample: 'planned',
    columns: 92,
    commands: ['bmad next --lang fr'],
  },
];

/** Runs the commands of a recording as a person at a terminal of that width, and draws what they show. */
export async function recorded(
  { sample, columns, commands, title }: Recording,
  how?: Running,
): Promise<string> {
  const story = await Story.open(sample, how);
  try {
    const lines: string[] = [];
    for (const command of commands) {
      if (lines.length > 0) lines.push('');
      lines.push(`\u001B[2m$\u001B[22m \u001B[1m${command}\u001B[22m`);
      lines.push(...(await story.run(`COLUMNS=${columns} FORCE_COLOR=1 ${command}`)));
    }
    return svgOf({ title, columns, lines });
  } finally {
    await story.close();
  }
}
