import { CLI_PROGRAM, PRODUCT, VERSION } from '../../base/product.ts';
import { COMMANDS } from './commands.prepared.ts';

/** What the commands of a group are about, for its help. */
export const GROUPS: Readonly<Partial<Record<string, string>>> = {
  sources: 'Git repositories with BMAD content',
  memory: 'What the project remembers',
  contract: 'Whether the project is done',
  project: "The project's own state",
  usage: 'What was started in the project',
  run: 'Runs of workflows',
  session: 'Session branches, where runs are kept',
  log: 'What others should know',
  task: 'Work queued for sub-agents',
  delivery: 'Contracts between teams',
  config: 'The settings in force and where each comes from',
};

/** The first word of each command that has a line in the overview. All others share the last line, so a new one fits. */
const SECTIONS: readonly (readonly [title: string, ...words: string[]])[] = [
  ['Agents and workflows', 'list', 'search', 'execute', 'next', 'read', 'explain', 'context', 'delegate'],
  ['Project', 'project', 'memory', 'code', 'run', 'task', 'log', 'contract', 'delivery'],
  ['Server', 'setup', 'doctor', 'sources', 'serve', 'page'],
];

const NAME_WIDTH = 10;
const SCREEN_WIDTH = 100;
/** The commands that are not operations: servers, which the program starts instead. */
const SERVERS = [
  ['serve', 'Serve over HTTP, to several hosts at once'],
  ['page', 'What is waiting for you and how far the project is, in your browser'],
] as const;

/** About the command line itself. */
export const COMPLETION = 'completion';

/** The first help text a person sees; it has to fit on a screen. */
export function overview(settings: string): string {
  const lines = commandLines();
  const shown = new Set(SECTIONS.flatMap(([, ...words]) => words));
  const others = [...[...lines.keys()].filter((word) => !shown.has(word)), COMPLETION];
  const sections = SECTIONS.map(([title, ...words]) =>
    [`${title}:`, ...words.flatMap((word) => lines.get(word) ?? [])].join('\n'),
  );
  return `${PRODUCT} ${VERSION}: BMad Method agents and workflows on the command line

Usage: ${CLI_PROGRAM} <command> [options] [--json]  ${CLI_PROGRAM} <command> --help explains it
       ${CLI_PROGRAM} <agent or workflow> [message]  e.g. ${CLI_PROGRAM} architect "Review our caching plan"

${sections.join('\n')}
Also: ${others.join(', ')}; --version

Settings for every command, with their environment variables:
${settings}
`;
}

/** One line for each first word; a group of commands shares one. */
function commandLines(): Map<string, string> {
  const groups = new Map<string, string[]>();
  const lines = new Map<string, string>(SERVERS.map(([name, text]) => [name, line(name, text)]));
  for (const { command, title } of COMMANDS) {
    const [first = '', inner] = command.split(' ');
    if (inner === undefined) lines.set(first, line(first, title));
    else groups.set(first, [...(groups.get(first) ?? []), inner]);
  }
  for (const [name, inner] of groups) lines.set(name, groupLine(name, inner));
  return lines;
}

function line(name: string, text: string): string {
  return `  ${name.padEnd(NAME_WIDTH)}${text}`;
}

/** As many names of the group as the line has room for. */
function groupLine(name: string, inner: readonly string[]): string {
  const about = GROUPS[name] === undefined ? '' : `${GROUPS[name]}: `;
  for (let count = inner.length; ; count--) {
    const names = [...inner.slice(0, count), ...(count < inner.length ? ['…'] : [])];
    const text = line(name, about + names.join(', '));
    if (count <= 1 || text.length <= SCREEN_WIDTH) return text;
  }
}
