import { Help, type HelpConfiguration } from 'commander';
import { BmadError, quoted } from '../../base/errors.ts';
import { CLI_PROGRAM, PRODUCT, VERSION } from '../../base/product.ts';
import type { Item } from '../../operations/catalogue/list-items.ts';
import type { Step } from '../../base/step.ts';
import { say, t } from '../../base/text/message.ts';
import { COMMANDS } from './commands.prepared.ts';

/** What the commands of a group are about, for its help. */
export const GROUPS: Readonly<Partial<Record<string, string>>> = {
  sources: 'Git repositories with BMAD content',
  memory: 'What the project remembers',
  contract: 'Whether the project is done',
  project: "The project's own state",
  usage: 'What was started in the project',
  state: 'Where the lines of the project are',
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

/** What a first day needs; where a command of a group has a shorter name, that. */
const FIRST: readonly (readonly [word: string, about?: string])[] = [
  ['setup'],
  ['next'],
  ['search'],
  ['list'],
  ['remember', 'Keep a decision or a fact, for every host'],
  ['recall', 'Find what was kept'],
  ['contract'],
  ['doctor'],
];

/** The first help text that a person sees. */
export function firstHelp(): string {
  const lines = commandLines();
  const shown = FIRST.map(([word, about]) =>
    about === undefined ? lines.get(word) : line(word, say(about)),
  );
  return t`${PRODUCT} ${VERSION}: BMad Method agents and workflows on the command line

Usage: ${CLI_PROGRAM} <command> [options]
       ${CLI_PROGRAM} <agent or workflow> [message]  ${CLI_PROGRAM} architect "Review our plan"

${shown.join('\n')}

${CLI_PROGRAM} help <word> explains a command, an agent, a workflow or a setting.
${CLI_PROGRAM} help --all lists the other commands, and the settings.
`;
}

/** All commands, and the settings that people use; it has to fit on a screen. */
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

/** Stands for a space that must not break: the parser would break there as at any other. */
const HELD = '\u{E001}';

/**
 * Help in the language of a person. Each text is said while it is whole: a line of one that is broken already is no text
 * that the catalogue has. What is typed (usage, terms, examples) is not said at all.
 */
export function helpIn(): HelpConfiguration {
  const english = new Help();
  return {
    styleTitle: (title) => say(title),
    commandDescription: (command) => say(english.commandDescription(command)),
    optionDescription: (option) => withDefault(say(option.description), option),
    argumentDescription: (argument) => withDefault(say(argument.description), argument),
    boxWrap: (text, width) =>
      english.boxWrap(text.replaceAll('\u00A0', HELD), width).replaceAll(HELD, '\u00A0'),
  };
}

interface Taken {
  argChoices?: string[];
  defaultValue?: unknown;
  defaultValueDescription?: string | undefined;
}

/** What the parser puts behind a description. */
function withDefault(text: string, { argChoices, defaultValue, defaultValueDescription }: Taken): string {
  const more = [
    ...(argChoices === undefined
      ? []
      : [t`choices: ${argChoices.map((choice) => JSON.stringify(choice)).join(', ')}`]),
    ...(defaultValue === undefined || defaultValue === false
      ? []
      : [t`default: ${defaultValueDescription ?? JSON.stringify(defaultValue)}`]),
  ];
  if (more.length === 0) return text;
  return text === '' ? `(${more.join(', ')})` : `${text} (${more.join(', ')})`;
}

/** What the parser says of a command line that it does not understand, by what it begins with; what follows was typed. */
const COMPLAINTS: readonly (readonly [RegExp, (...typed: string[]) => string])[] = [
  [/^error: unknown option '(.*?)'$/, (option = '') => t`error: unknown option '${option}'`],
  [/^error: unknown command '(.*?)'$/, (command = '') => t`error: unknown command '${command}'`],
  [
    /^error: missing required argument '(.*?)'$/,
    (name = '') => t`error: missing required argument '${name}'`,
  ],
  [
    /^error: option '(.*?)' argument missing$/,
    (option = '') => t`error: option '${option}' argument missing`,
  ],
  [
    /^error: option '([^']{0,80})' argument '(.{0,200})' is invalid\. (.{0,300})$/,
    (option = '', value = '', why = '') =>
      t`error: option '${option}' argument '${value}' is invalid. ${complaint(why)}`,
  ],
  [
    /^error: command-argument value '(.{0,200})' is invalid for argument '([^']{0,80})'\. (.{0,300})$/,
    (value = '', name = '', why = '') =>
      t`error: command-argument value '${value}' is invalid for argument '${name}'. ${complaint(why)}`,
  ],
  [
    /^error: too many arguments(?: for '(.*?)')?\. Expected (\d+) arguments? but got (\d+)\.$/,
    (_command = '', expected = '', got = '') =>
      t`error: too many arguments: ${expected} expected, ${got} given.`,
  ],
  [/^Allowed choices are (.*)\.$/, (choices = '') => t`Allowed choices are ${choices}.`],
  [/^\(Did you mean one of (.*)\?\)$/, (names = '') => t`(Did you mean one of ${names}?)`],
  [/^\(Did you mean (.*)\?\)$/, (name = '') => t`(Did you mean ${name}?)`],
];

/** A complaint of the parser in the language of the person. */
export function complaint(text: string): string {
  return text
    .split('\n')
    .map((typed) => {
      for (const [shape, told] of COMPLAINTS) {
        const found = shape.exec(typed);
        if (found !== null) return told(...found.slice(1));
      }
      return say(typed);
    })
    .join('\n');
}

/** Words that people try first, and the command each stands for. They are not agents or workflows, whose names go on to work. */
const SHORTCUTS: Readonly<Partial<Record<string, readonly string[]>>> = {
  agents: ['list', 'agents'],
  workflows: ['list', 'workflows'],
  status: ['next', '--detail', 'brief'],
  recall: ['memory', 'recall'],
  start: ['execute'],
  agent: ['execute', '--kind', 'agent'],
  workflow: ['execute', '--kind', 'workflow'],
};

/** The line of the overview that names them. */
export const EVERY_DAY = 'Every day: agents, workflows, start, status, remember "…", recall "…"';

/** `bmad remember`: the same as `memory remember`, without what has to be guessed. */
export const REMEMBER = {
  operation: 'remember_structured',
  word: 'remember',
  positional: ['text'],
  sentence: true,
  presets: { type: 'shared-context', agent: 'user' },
  examples: [
    'remember "We deploy on Tuesdays only"',
    'remember "PostgreSQL for orders: we need transactions" --type decision --agent architect',
  ],
} as const;

export const HELP = 'help';
/** With it, help has everything. */
export const ALL = '--all';

/** What help was asked for that no command is called by. */
export function topicIn([first, ...rest]: readonly string[]): string | undefined {
  const words = rest.filter((word) => !word.startsWith('-'));
  const known = new Set([
    ...COMMANDS.flatMap(({ command }) => command.split(' ')[0] ?? []),
    ...SHORTCUT_WORDS,
    COMPLETION,
  ]);
  return first !== HELP || words.length === 0 || known.has(words[0] ?? '') ? undefined : words.join(' ');
}

/** An agent or a workflow: what it is, and how it is started. */
export function aboutItem({
  name,
  kind,
  title = '',
  person = '',
  module = '',
  description,
  agents = [],
}: Item): string {
  const what = [title.includes(person) ? title : `${person} ${title}`, say(kind), module]
    .filter((text) => text !== '')
    .join(', ');
  return [
    `${name}: ${what}`,
    '',
    description,
    ...(agents.length === 0 ? [] : ['', t`In the menu of: ${agents.join(', ')}`]),
    '',
    t`In a host, say:`,
    `  ${t`Use bmad: start ${name}.`}`,
    t`In a terminal:`,
    `  ${CLI_PROGRAM} ${name} --copy`,
    `  ${CLI_PROGRAM} explain ${name}`,
  ].join('\n');
}

/** What is known about a word from the command line alone: commands that have it in their names, and settings. */
export function aboutWord(word: string, settings: string): string {
  const wanted = word
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/^bmad-/, '');
  const commands = COMMANDS.filter(({ command }) => command.split(' ').includes(wanted)).map(
    ({ command, title, usage }) => [`${CLI_PROGRAM} ${command} ${usage}`.trim(), say(title)] as const,
  );
  const width = Math.max(0, ...commands.map(([typed]) => typed.length)) + 2;
  const lines = settings
    .split('\n')
    .filter((each) => [`--${wanted}`, `--no-${wanted}`].includes(each.trim().split(' ')[0] ?? ''));
  return [
    ...(commands.length === 0
      ? []
      : [t`Commands:`, ...commands.map(([typed, title]) => `  ${typed.padEnd(width)}${title}`)]),
    ...(lines.length === 0
      ? []
      : [
          t`A setting for every command, with its environment variable:`,
          ...lines,
          t`In the configuration file it is ${wanted.replaceAll('-', '_')}; "${CLI_PROGRAM} config show" says what is in force.`,
        ]),
  ].join('\n');
}

/** All first words that are not commands of their own. */
export const SHORTCUT_WORDS: readonly string[] = [...Object.keys(SHORTCUTS), REMEMBER.word, HELP];

/** Groups that say how things are when nothing more is asked. */
const SHOWN_ALONE: ReadonlySet<string> = new Set(['state']);

/** The first words as the command that they stand for; `help x` asks for the help of `x`. */
export function spokenCommand(args: readonly string[]): string[] {
  const [first = '', ...rest] = args;
  if (first === HELP) {
    const topic = rest.filter((word) => !word.startsWith('-'));
    return topic.length === 0
      ? ['--help', ...rest.filter((word) => word === ALL)]
      : [...withoutFlags(spokenCommand([...topic, '--help'])), '--help'];
  }
  if (SHOWN_ALONE.has(first) && rest.every((word) => word.startsWith('-') && word !== '--help'))
    return [first, 'show', ...rest];
  const [kind = '', name] = rest;
  // As bmad-mcp-server has it: `execute agent dev --message "…"`, `read workflow prd`.
  if ((first === 'execute' || first === 'read') && NAMED_KIND.test(kind) && name !== undefined)
    return spokenCommand([first, ...rest.slice(1), '--kind', kind]);
  if (first === 'execute') return [first, ...rest.flatMap(withoutMessageFlag)];
  const meant = SHORTCUTS[first];
  if (meant === undefined) return [...args];
  // What is typed counts before what the shortcut adds.
  const flag = meant.findIndex((word) => word.startsWith('--'));
  const given = flag !== -1 && rest.some((word) => word.split('=')[0] === meant[flag]);
  return [...(given ? meant.slice(0, flag) : meant), ...rest];
}

const NAMED_KIND = /^(?:agent|workflow)$/;

/** The message is the words after the name, with a flag before them or without. */
function withoutMessageFlag(word: string): string[] {
  if (word === '-m' || word === '--message') return [];
  return [word.replace(/^--message=/, '')];
}

function withoutFlags(words: readonly string[]): string[] {
  const flag = words.findIndex((word) => word.startsWith('--'));
  return flag === -1 ? [...words] : words.slice(0, flag);
}

const SETUP: Step = { operation: 'setup', why: 'Connect this server to your hosts' };
const REMOVE: Step = { operation: 'remove', why: 'Disconnect it from them' };

/** What the page calls views, and other programs a command of ours. */
const OTHER_WORDS: Readonly<Partial<Record<string, Step & { view?: true }>>> = {
  board: { operation: 'next', why: 'See how far the project is', view: true },
  now: { operation: 'activity', why: 'See who works on what', view: true },
  health: { operation: 'doctor', why: 'See whether everything works', view: true },
  init: SETUP,
  install: SETUP,
  connect: SETUP,
  configure: SETUP,
  uninstall: REMOVE,
  disconnect: REMOVE,
};

/** The error for such a word, if nothing in the content is called by it. */
export function otherWord(word: string): BmadError | undefined {
  const step = Object.hasOwn(OTHER_WORDS, word) ? OTHER_WORDS[word] : undefined;
  if (step === undefined) return undefined;
  return new BmadError(
    'not_found',
    t`There is no command ${quoted(word)}; the one for it is "${step.operation}".`,
    {
      subject: word,
      ...(step.view === true ? { hint: t`${`${CLI_PROGRAM} page`} shows it in a browser.` } : {}),
      steps: [step],
    },
  );
}
