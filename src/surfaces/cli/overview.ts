import { say, t } from '../../base/text/message.ts';
import { CLI_PROGRAM, PRODUCT, VERSION } from '../../base/product.ts';
import { COMMANDS } from './commands.prepared.ts';
import { EVERY_DAY } from './shortcuts.ts';

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

/** The first word of each command that has a line in the overview. All others share the last lines, so a new one fits. */
const SECTIONS: readonly (readonly [title: string, ...words: string[]])[] = [
  ['Agents and workflows', 'list', 'search', 'execute', 'next', 'read', 'context', 'delegate'],
  ['Project', 'project', 'memory', 'code', 'run', 'task', 'log', 'contract', 'delivery'],
  ['Server', 'setup', 'doctor', 'sources', 'serve', 'page'],
];

const NAME_WIDTH = 10;
const SCREEN_WIDTH = 80;
/** The commands that are not operations: servers, which the program starts instead. */
const SERVERS = [
  ['serve', 'Serve over HTTP, to several hosts at once'],
  ['page', 'Pending work, and how far along the project is, in your browser'],
] as const;

/** About the command line itself. */
export const COMPLETION = 'completion';

/** The first help text a person sees; it has to fit on a screen. */
export function overview(settings: string): string {
  const lines = commandLines();
  const shown = new Set(SECTIONS.flatMap(([, ...words]) => words));
  const others = [...[...lines.keys()].filter((word) => !shown.has(word)), COMPLETION];
  const sections = SECTIONS.map(([title, ...words]) =>
    [t`${say(title)}:`, ...words.flatMap((word) => lines.get(word) ?? [])].join('\n'),
  );
  return t`${PRODUCT} ${VERSION}: BMad Method agents and workflows on the command line

Usage: ${CLI_PROGRAM} <command> [options] [--json]  ${CLI_PROGRAM} help <command> explains it
       ${CLI_PROGRAM} <agent or workflow> [message]  ${CLI_PROGRAM} architect "Review our plan"
${say(EVERY_DAY)}

${sections.join('\n')}
${folded(t`Also: `, others)}
Settings for every command, with their environment variables:
${settings}
`;
}

/** The commands of a group, a line each. */
export function groupHelp(name: string): string {
  const own = COMMANDS.flatMap(({ command, title, usage }) => {
    const [first, inner] = command.split(' ');
    return first === name && inner !== undefined ? [[`${inner} ${usage}`.trim(), title] as const] : [];
  });
  const width = Math.max(...own.map(([typed]) => typed.length)) + 2;
  return t`Usage: ${CLI_PROGRAM} ${name} <command> [options]

${say(GROUPS[name] ?? t`Commands about the ${name}`)}

Commands:
${own.map(([typed, title]) => `  ${typed.padEnd(width)}${say(title)}`).join('\n')}

${CLI_PROGRAM} help ${name} <command> explains one.
`;
}

/** Names after a label, on as many lines as they need. */
function folded(label: string, names: readonly string[]): string {
  const lines = [label];
  for (const [index, name] of names.entries()) {
    const text = index === names.length - 1 ? name : `${name}, `;
    const last = lines[lines.length - 1] ?? '';
    if (last.length + text.trimEnd().length <= SCREEN_WIDTH) lines[lines.length - 1] = last + text;
    else lines.push(' '.repeat(label.length) + text);
  }
  return lines.map((one) => one.trimEnd()).join('\n');
}

/** One line for each first word; a group of commands shares one. */
function commandLines(): Map<string, string> {
  const groups = new Map<string, string[]>();
  const lines = new Map<string, string>(SERVERS.map(([name, text]) => [name, line(name, say(text))]));
  for (const { command, title } of COMMANDS) {
    const [first = '', inner] = command.split(' ');
    if (inner === undefined) lines.set(first, line(first, say(title)));
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
  const about = GROUPS[name] === undefined ? '' : t`${say(GROUPS[name])}: `;
  for (let count = inner.length; ; count--) {
    const names = [...inner.slice(0, count), ...(count < inner.length ? ['…'] : [])];
    const text = line(name, about + names.join(', '));
    if (count <= 1 || text.length <= SCREEN_WIDTH) return text;
  }
}
