import { type Running, Story } from '../docs-run/story.ts';
import { svgOf } from './svg.ts';

/** A picture of what a command shows in a terminal, made by running it. */
export interface Recording {
  file: string;
  /** What it shows, for those who cannot see it. */
  title: string;
  /** The project it runs in, one of scripts/docs-run/samples. */
  sample: string;
  columns: number;
  /** Commands of a terminal, or what a person says in a host and the calls its model makes of it. */
  commands: readonly (string | Turn)[];
}

interface Turn {
  said: string;
  call: string;
  /** Which lines of the answer are shown: those that one of these begins. */
  shown: readonly string[];
}

export const RECORDINGS: readonly Recording[] = [
  {
    file: 'docs/images/conversation.svg',
    title: 'A conversation in a host: three wishes, the calls made for them, and how the answers begin',
    sample: 'planned',
    columns: 100,
    commands: [
      {
        said: 'Use bmad: become the architect and review our caching plan.',
        call: 'bmad {operation:"execute", agent:"architect", message:"Review our caching plan"}',
        shown: ['# Winston', 'Become this agent'],
      },
      {
        said: 'What is the next step of this project, according to bmad?',
        call: 'bmad {operation:"next"}',
        shown: ['1.', '2.'],
      },
      {
        said: 'Remember with bmad: orders are kept in PostgreSQL, because we need transactions.',
        call: 'remember_structured {type:"decisions", agent:"architect", text:"Orders are in PostgreSQL: we need transactions"}',
        shown: ['Remembered'],
      },
    ],
  },
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
      if (typeof command !== 'string') {
        lines.push(...(await turn(command, story, columns)));
        continue;
      }
      lines.push(`\u001B[2m$\u001B[22m \u001B[1m${command}\u001B[22m`);
      lines.push(...(await story.run(`COLUMNS=${columns} FORCE_COLOR=1 ${command}`)));
    }
    return svgOf({ title, columns, lines });
  } finally {
    await story.close();
  }
}

/** What was said, the call, and the named lines of its answer, each cut to the width of the picture. */
async function turn({ said, call, shown }: Turn, story: Story, columns: number): Promise<string[]> {
  const answer = await story.call(call, true);
  const found = shown.map((start) => answer.find((line) => line.startsWith(start)));
  if (found.includes(undefined))
    throw new Error(`${call} has no line ${shown.join(', ')}\n${answer.join('\n')}`);
  const fitting = (text: string): string =>
    text.length > columns - 6 ? `${text.slice(0, columns - 7)}…` : text;
  return [
    `\u001B[36m❯\u001B[39m \u001B[1m${said}\u001B[22m`,
    `\u001B[32m●\u001B[39m ${fitting(call)}`,
    ...found.map((line) => `    ${fitting(line ?? '')}`),
    '    \u001B[2m…\u001B[22m',
  ];
}
