import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { t } from '../base/text/message.ts';

export interface SettingMeta {
  /** The variable and the flag, where they do not follow from the name: `answerBytes` is BMAD_ANSWER_BYTES. */
  env?: string;
  flag?: string;
  /** Shown in help instead of the type; a switch has none. */
  placeholder?: string;
  /** Whether it points to folders of the machine, so that a project's own file must not set it. */
  personal?: true;
  /** A list to which every layer adds, instead of the strongest one deciding alone; written with spaces between. */
  gathers?: true;
  /** Pattern of the words that the server's command line takes for this setting without its flag. */
  bare?: string;
  /** Left out of the first help text of the command line, which has to fit on a screen. */
  rare?: true;
  /** A few words for help texts; the description says the rest. */
  summary: string;
  /** What separates the entries of a list in one text; by default, the system's separator for folders. */
  separator?: string;
  /** Whether an invalid value stops the start wherever it comes from: ignoring it would leave more switched on. */
  binding?: true;
  /** Whether it takes something away, which a project's own file may add to but not undo. */
  restricts?: true;
  /** The value that `--no-…` stands for, where there is such a flag. */
  off?: string;
  /** Whether the user's file decides before the project's: what the user has chosen is about the project. */
  yields?: true;
}

/** What the command line, the environment and the docs need to know about each setting. */
export const settingMeta = z.registry<SettingMeta>();

/** What most settings have: what stands for a value in help, the few words, and the rest. */
export const meta = (
  placeholder: string,
  summary: string,
  more: Omit<SettingMeta, 'placeholder' | 'summary'> = {},
): SettingMeta => ({ ...more, placeholder, summary });

/** For what a project's own file must not set and few people need. */
export const PERSONAL = { personal: true, rare: true } as const;

export const text = z.string().min(1);

export const intBetween = (least: number, most: number): z.ZodInt => z.int().min(least).max(most);

/** Which of the modules that come with the server are shown without being asked for. */
export const moduleSettings = {
  modules: z
    .array(z.string().regex(/^[A-Za-z][\w-]{0,63}$/, 'Use codes of modules, such as tea.'))
    .max(50)
    .default(['core', 'bmm'])
    .describe(
      'Built-in modules that lists and prompts show: core and bmm always, others by code (tea), or "all". The rest is found by name and search; "only" switches it off.',
    )
    .register(settingMeta, meta('codes', 'Built-in modules to show', { rare: true, separator: ',' })),
};

/** Which origin something is served from when several have it: whom to trust first is for a person to say. */
export const originSettings = {
  originOrder: entries(
    'Order of origins, the first wins: project, cli, env, user, git, package, or the name of one. Those not named follow as usual.',
    'origins',
    'Order of origins',
  ),
  prefer: entries(
    'Origin to use for one agent, workflow or module, whatever the order: "analyst=package", "bmm=user".',
    'name=origin',
    'Preferred origins',
  ),
};

function entries(description: string, placeholder: string, summary: string) {
  return z
    .array(z.string().min(1).max(300))
    .max(200)
    .default([])
    .describe(description)
    .register(settingMeta, meta(placeholder, summary, { ...PERSONAL, separator: ',' }));
}

/** What git sources there are, and how they are looked after. */
export const gitSettings = {
  git: z
    .array(text)
    .default([])
    .describe(
      'Git repositories with BMAD content: git+https://host/org/repo.git#ref:/subpath. Sources from all configuration layers are used, in order.',
    )
    .register(
      settingMeta,
      meta('source', 'Git source of BMAD content (repeatable)', {
        gathers: true,
        bare: String.raw`^(?:git\+|[\w.-]+@[\w.-]+:(?!//))`,
      }),
    ),
  gitRefresh: intBetween(0, 100_000)
    .default(0)
    .describe(
      'How often a running server checks git sources for changes. 0: only when you run "bmad sources update".',
    )
    .register(settingMeta, meta('minutes', 'How often to check git sources', PERSONAL)),
  gitApproval: z
    .enum(['ask', 'auto'])
    .default('ask')
    .describe(
      'What to do when a git source changes: ask (serve it after "bmad sources approve") or auto (serve it immediately, unless a tag was moved or history was rewritten).',
    )
    .register(settingMeta, meta('ask|auto', 'Approval of changed git sources', PERSONAL)),
  gitTimeoutMs: intBetween(1_000, 3_600_000)
    .default(60_000)
    .describe('Time limit for one git step, such as fetching a repository.')
    .register(settingMeta, meta('ms', 'Time limit for git', PERSONAL)),
};

/** Which tools a host is offered. */
export const toolSettings = {
  toolsets: names(
    ['bmad', 'project', 'memory'],
    'Tool sets to offer: bmad, workflows, agents, project, memory.',
    'Tool sets to offer',
  ),
  tools: names(
    [],
    'Additional tools to offer by name, whichever set they belong to.',
    'Additional tools to offer',
  ),
  excludeTools: names(
    [],
    'Tools never to offer, whatever other settings say, and operations of the tool bmad, such as search; "*" matches any part of a name.',
    'Tools never to offer',
    { restricts: true },
  ),
  prompts: z
    .enum(['auto', 'on', 'off'])
    .default('auto')
    .describe(
      'Prompts for agents and workflows: auto (without those that the host has as skills or commands itself), on or off.',
    )
    .register(settingMeta, meta('mode', 'Prompts: auto, on, off', { rare: true })),
  output: z
    .enum(['text', 'structured'])
    .default('text')
    .describe(
      'What a tool answers with: text, or structured: the same text, and its data for programs (structuredContent, with an outputSchema). Some hosts then show a model the data only.',
    )
    .register(settingMeta, meta('form', 'Answers: text, structured', { rare: true })),
  readOnly: z
    .boolean()
    .default(false)
    .describe('Refuse all writes, and do not offer tools that write.')
    .register(settingMeta, { binding: true, restricts: true, summary: 'Refuse all writes' }),
};

function names(usual: string[], description: string, summary: string, more: { restricts?: true } = {}) {
  return z
    .array(z.string())
    .default(usual)
    .describe(description)
    .register(settingMeta, meta('names', summary, { binding: true, rare: true, separator: ',', ...more }));
}

const address = (): z.ZodString =>
  z.string().regex(/^https?:\/\/[^\s]+$/i, 'Use an address that starts with http:// or https://.');

/**
 * Where memories are stored, and what compares their meaning. All of it is personal: a project that could name a server
 * would be sent what others remember.
 */
export const memorySettings = {
  projectState: z
    .enum(['auto', 'project', 'user'])
    .default('auto')
    .describe(
      'Where memories, sessions, runs, tasks and receipts of a project are kept, all of them together: auto (in the project if it has BMAD, unless they began in your folder), project, or user. A project with _bmad/_memory keeps them itself.',
    )
    .register(settingMeta, meta('place', "Where a project's state is kept", PERSONAL)),
  memoryEngine: z
    .enum(['auto', 'sqlite', 'qdrant', 'memory'])
    .default('auto')
    .describe(
      'What finds memories, which are kept as lines in files: auto (Qdrant if its address is set, else SQLite, else the memory of the process), sqlite, qdrant or memory.',
    )
    .register(settingMeta, meta('engine', 'What finds memories', PERSONAL)),
  memoryJournal: z
    .enum(['auto', 'wal', 'delete'])
    .default('auto')
    .describe(
      'Journal mode of the SQLite index: auto (write-ahead log, except on a folder known to be on a network), wal, or delete (no write-ahead log; for a network folder on macOS or Windows).',
    )
    .register(settingMeta, meta('mode', 'Journal mode of the SQLite index', PERSONAL)),
  embedder: z
    .enum(['auto', 'static', 'none', 'ollama', 'openai', 'transformers'])
    .default('auto')
    .describe(
      'How the meaning of texts is compared: auto (Ollama if its address is set, else the built-in model), static (built in), none (words only), ollama, openai (any compatible server) or transformers (a model in a folder).',
    )
    .register(settingMeta, meta('name', 'How meanings are compared', PERSONAL)),
  qdrantUrl: address()
    .optional()
    .describe('Address of a Qdrant server or cluster for memories, such as http://localhost:6333.')
    .register(settingMeta, meta('url', 'Qdrant server for memories', PERSONAL)),
  qdrantApiKey: text
    .optional()
    .describe('Key for the Qdrant server. Set it in the environment, where process lists do not show it.')
    .register(settingMeta, meta('key', 'Key for the Qdrant server', PERSONAL)),
  ollamaUrl: address()
    .optional()
    .describe('Address of an Ollama server that computes embeddings, such as http://localhost:11434.')
    .register(settingMeta, meta('url', 'Ollama server for embeddings', PERSONAL)),
  openaiUrl: address()
    .default('https://api.openai.com/v1')
    .describe('Base address for the openai embedder, up to but not including /embeddings.')
    .register(settingMeta, meta('url', 'For openai embeddings', PERSONAL)),
  openaiApiKey: text
    .optional()
    .describe('Key for the openai embedder. Set it in the environment.')
    .register(settingMeta, meta('key', 'Key for the openai embedder', PERSONAL)),
  embeddingModel: text
    .max(200)
    .optional()
    .describe(
      'Model for the ollama or openai embedder, nomic-embed-text or text-embedding-3-small if not set.',
    )
    .register(settingMeta, meta('name', 'Embedding model', PERSONAL)),
  modelFolder: text
    .optional()
    .describe('Folder with the model for the transformers embedder.')
    .register(settingMeta, meta('folder', 'Model folder for transformers', PERSONAL)),
};

/** One truth for several machines: a database instead of files, and what the project is called in it. */
export const sharedSettings = {
  state: text
    .optional()
    .describe(
      'Address of a PostgreSQL database that has the memories, tasks, runs and receipts of projects for a team, such as postgres://user@host/database, or the path of a file whose first line is one.',
    )
    .register(settingMeta, {
      ...PERSONAL,
      binding: true,
      placeholder: 'address',
      summary: 'Database for a team',
    }),
  projectKey: z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]{0,99}$/, 'Use letters, digits, dots, dashes and underscores.')
    .optional()
    .describe(
      'What this project is called in the database: the same in all its clones, and another in a fork. Without it, it is the name in its BMAD page, or that of its folder with its first commit.',
    )
    .register(settingMeta, meta('name', 'Name in the database', { rare: true, binding: true })),
};

/** Words that stand for a rule instead of a folder. */
const RULES = new Set(['ask', 'always', 'never']);

const isRuleOrFolders = (given: readonly string[]): boolean =>
  given.every((entry) => !RULES.has(entry) && isAbsolute(entry)) ||
  (given.length === 1 && RULES.has(given[0] ?? ''));

/**
 * Whose programs run. Both are personal and binding: a project must not trust itself, and an ignored value could leave more
 * allowed than was meant.
 */
export const trustSettings = {
  trust: z
    .array(text)
    .refine(isRuleOrFolders, 'Use ask, always or never, or absolute paths of folders.')
    .default(['ask'])
    .describe(
      'Whose programs a completion contract may run: ask (a person allows each project once, and again when what it runs changes), always, never, or a list of folders whose projects may.',
    )
    .register(settingMeta, {
      ...PERSONAL,
      binding: true,
      placeholder: 'rule',
      summary: 'Projects whose programs may run',
    }),
  trustProject: z
    .boolean()
    .default(false)
    .describe('Let the programs of this project run without asking, for CI.')
    .register(settingMeta, { ...PERSONAL, binding: true, summary: 'Run this project’s programs unasked' }),
};

/** How agents and workflows are put in order, and what is noted for it. */
export const rankingSettings = {
  usage: z
    .boolean()
    .default(true)
    .describe(
      'Record on this machine, per project, which agents and workflows were started and when, and rank those first. Names and times only; nothing is sent anywhere.',
    )
    .register(settingMeta, { ...PERSONAL, summary: 'Record starts, for ranking' }),
  boost: z
    .array(z.string().min(1).max(300))
    .max(200)
    .default([])
    .describe('Agents, workflows or modules to rank first, by name: "bmm/bmad-prd", "architect", "bmm".')
    .register(settingMeta, meta('names', 'What to rank first', { rare: true, separator: ',' })),
  rankHalfLife: z
    .number()
    .min(0.01)
    .max(36_500)
    .default(14)
    .describe('Days after which a start counts half as much.')
    .register(settingMeta, meta('days', 'Half-life of recency', { rare: true })),
  rankRecency: weight('recency', 35, 'how recently something was started'),
  rankFrequency: weight('frequency', 25, 'how often something was started'),
  rankManifest: weight('manifest', 15, 'what the manifests say about something'),
  rankBoost: weight('boost', 25, 'being named in the setting boost'),
  rerank: z
    .boolean()
    .default(true)
    .describe(
      'Ask the client’s model which candidate is meant when several are left and the client supports it.',
    )
    .register(settingMeta, { ...PERSONAL, summary: 'Ask the client’s model to choose' }),
  rerankMs: intBetween(1, 120_000)
    .default(10_000)
    .describe('How long the client’s model may take; later answers are ignored.')
    .register(settingMeta, meta('ms', 'Time limit for the client’s model', { rare: true })),
};

function weight(signal: string, preset: number, meaning: string) {
  return z
    .number()
    .min(0)
    .max(1_000)
    .default(preset)
    .describe(`Weight of ${meaning} in the ranking.`)
    .register(settingMeta, meta('weight', t`Weight of ${signal}`, { rare: true }));
}

/**
 * What a delegation to an agent may cost. A project's own file sets none of it: it is the user whose model is asked.
 */
export const delegationSettings = {
  delegateDepth: intBetween(1, 5)
    .default(2)
    .describe('How many agents deep a delegation may go; 1 allows only the agent that was called.')
    .register(settingMeta, meta('levels', 'Levels of delegation', PERSONAL)),
  delegateRounds: intBetween(1, 50)
    .default(8)
    .describe(
      'How many times one delegation may ask the client’s model. Clients of the 2026 protocol stop after ten anyway.',
    )
    .register(settingMeta, meta('count', 'Questions per delegation', PERSONAL)),
  delegateTokens: intBetween(1_000, 2_000_000)
    .default(60_000)
    .describe('Estimated number of tokens one delegation may use, questions and answers together.')
    .register(settingMeta, meta('tokens', 'Tokens per delegation', PERSONAL)),
  delegateAnswer: intBetween(16, 200_000)
    .default(8_192)
    .describe('Largest max_tokens for one answer; higher values are lowered to it.')
    .register(settingMeta, meta('tokens', 'Tokens per answer', PERSONAL)),
  delegateSeconds: z
    .number()
    .min(0.05)
    .max(3_600)
    .default(300)
    .describe('How long the client’s model may take for one answer; later answers are ignored.')
    .register(settingMeta, meta('seconds', 'Time limit for one answer', PERSONAL)),
};

/** What a server does between calls. */
export const liveSettings = {
  watch: z
    .enum(['auto', 'poll', 'off'])
    .default('auto')
    .describe(
      'How a server notices changes between calls: auto (the system reports them; network folders are polled for clients that listen), poll (look every second or so) or off, also --no-watch. Answers are current either way.',
    )
    .register(settingMeta, meta('mode', 'Notice changes: auto, poll, off', { rare: true, off: 'off' })),
  prewarm: z
    .boolean()
    .default(true)
    .describe('After listing its tools, have a server load what a first call needs while it is idle.')
    .register(settingMeta, { rare: true, off: 'false', summary: 'Load nothing ahead of calls' }),
};
