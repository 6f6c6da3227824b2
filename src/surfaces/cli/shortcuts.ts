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
  presets: { type: 'shared-context', agent: 'user' },
  examples: [
    'remember "We deploy on Tuesdays only"',
    'remember "PostgreSQL for orders: we need transactions" --type decision --agent architect',
  ],
} as const;

export const HELP = 'help';

/** All first words that are not commands of their own. */
export const SHORTCUT_WORDS: readonly string[] = [...Object.keys(SHORTCUTS), REMEMBER.word, HELP];

/** The first words as the command that they stand for; `help x` asks for the help of `x`. */
export function spokenCommand(args: readonly string[]): string[] {
  const [first = '', ...rest] = args;
  if (first === HELP) {
    const topic = rest.filter((word) => !word.startsWith('-'));
    return topic.length === 0 ? ['--help'] : [...withoutFlags(spokenCommand(topic)), '--help'];
  }
  const meant = SHORTCUTS[first];
  if (meant === undefined) return [...args];
  // What is typed counts before what the shortcut adds.
  const flag = meant.findIndex((word) => word.startsWith('--'));
  const given = flag !== -1 && rest.some((word) => word.split('=')[0] === meant[flag]);
  return [...(given ? meant.slice(0, flag) : meant), ...rest];
}

function withoutFlags(words: readonly string[]): string[] {
  const flag = words.findIndex((word) => word.startsWith('--'));
  return flag === -1 ? [...words] : words.slice(0, flag);
}
