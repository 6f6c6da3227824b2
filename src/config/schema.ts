import * as z from 'zod';
import { LOG_LEVELS } from '../base/log.ts';

interface SettingMeta {
  env: string;
  flag: string;
  /** Shown in help instead of the type. */
  placeholder: string;
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
}

/** What the command line, the environment and the docs need to know about each setting. */
export const settingMeta = z.registry<SettingMeta>();

/** Every setting, once. Flags, environment variables, file keys, help and docs are all derived from here. */
export const configSchema = z.strictObject({
  project: z
    .string()
    .min(1)
    .optional()
    .describe('Project folder. Without it: the client’s hint, else the working directory and its parents.')
    .register(settingMeta, {
      env: 'BMAD_PROJECT_ROOT',
      personal: true,
      flag: '--project',
      placeholder: 'folder',
      summary: 'Project folder',
    }),
  paths: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Further folders with BMAD content, before those of the user; each may be an install, a module or a folder of agents.',
    )
    .register(settingMeta, {
      env: 'BMAD_PATHS',
      personal: true,
      flag: '--path',
      placeholder: 'folder',
      summary: 'Further BMAD folder (repeatable)',
    }),
  root: z
    .string()
    .min(1)
    .optional()
    .describe('A BMAD folder for all projects, ranked after the paths and before the user’s own.')
    .register(settingMeta, {
      env: 'BMAD_ROOT',
      personal: true,
      flag: '--root',
      placeholder: 'folder',
      summary: 'BMAD folder for all projects',
    }),
  discovery: z
    .enum(['auto', 'local', 'user', 'strict'])
    .default('auto')
    .describe(
      'Which origins take part: auto (all), local (the project), user (the user’s), strict (git remotes).',
    )
    .register(settingMeta, {
      env: 'BMAD_DISCOVERY',
      flag: '--discovery',
      placeholder: 'mode',
      summary: 'Origins: auto, local, user, strict',
    }),
  git: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Git repositories with BMAD content: git+https://host/org/repo.git#ref:/subpath. Those of all layers take part, in order.',
    )
    .register(settingMeta, {
      env: 'BMAD_GIT',
      flag: '--git',
      placeholder: 'source',
      gathers: true,
      bare: String.raw`^(?:git\+|[\w.-]+@[\w.-]+:(?!//))`,
      summary: 'Git source of BMAD content (repeatable)',
    }),
  gitRefresh: z
    .int()
    .min(0)
    .max(100_000)
    .default(0)
    .describe(
      'How often a running server looks whether git sources have changed. 0: only when you run "bmad sources update".',
    )
    .register(settingMeta, {
      env: 'BMAD_GIT_REFRESH',
      personal: true,
      flag: '--git-refresh',
      rare: true,
      placeholder: 'minutes',
      summary: 'Look for changes of git sources',
    }),
  gitApproval: z
    .enum(['ask', 'auto'])
    .default('ask')
    .describe(
      'What happens to changes of a git source: ask (served after "bmad sources approve") or auto (at once, unless a tag was moved or history rewritten).',
    )
    .register(settingMeta, {
      env: 'BMAD_GIT_APPROVAL',
      personal: true,
      flag: '--git-approval',
      rare: true,
      placeholder: 'ask|auto',
      summary: 'Approval of changed git sources',
    }),
  gitTimeoutMs: z
    .int()
    .min(1_000)
    .max(3_600_000)
    .default(60_000)
    .describe('Time git has for one step, such as fetching a repository.')
    .register(settingMeta, {
      env: 'BMAD_GIT_TIMEOUT_MS',
      flag: '--git-timeout-ms',
      rare: true,
      placeholder: 'ms',
      summary: 'Time limit for git',
    }),
  cache: z
    .string()
    .min(1)
    .optional()
    .describe('Folder for what can be fetched again. Without it: the cache folder of the user.')
    .register(settingMeta, {
      env: 'BMAD_CACHE',
      personal: true,
      flag: '--cache',
      rare: true,
      placeholder: 'folder',
      summary: 'Folder for caches',
    }),
  logLevel: z
    .enum(LOG_LEVELS)
    .default('warn')
    .describe('How much is written to stderr: silent, error, warn, info or debug.')
    .register(settingMeta, {
      env: 'BMAD_LOG_LEVEL',
      flag: '--log-level',
      placeholder: 'level',
      summary: 'Detail of the log on stderr',
    }),
  answerBytes: z
    .int()
    .min(2_000)
    .max(400_000)
    .default(10_000)
    .describe('Size one answer may have before the rest moves to a next part.')
    .register(settingMeta, {
      env: 'BMAD_ANSWER_BYTES',
      flag: '--answer-bytes',
      placeholder: 'bytes',
      summary: 'Size of one answer',
    }),
  pageSize: z
    .int()
    .min(1)
    .max(200)
    .default(50)
    .describe('Entries on one page of a list.')
    .register(settingMeta, {
      env: 'BMAD_PAGE_SIZE',
      flag: '--page-size',
      rare: true,
      placeholder: 'count',
      summary: 'Entries on a page',
    }),
  maxFileBytes: z
    .int()
    .min(100_000)
    .max(100_000_000)
    .default(10_485_760)
    .describe('Largest file that is served; larger ones are refused before they are read.')
    .register(settingMeta, {
      env: 'BMAD_MAX_FILE_BYTES',
      flag: '--max-file-bytes',
      rare: true,
      placeholder: 'bytes',
      summary: 'Largest file served',
    }),
});

export type Config = z.output<typeof configSchema>;
export type SettingName = keyof Config;

/** Settings as they were typed; one that may be repeated is a list. */
export type RawSettings = Partial<Record<SettingName, string | readonly string[]>>;

export interface Setting extends SettingMeta {
  name: SettingName;
  /** Key in configuration files: `answer_bytes`. */
  fileKey: string;
  description: string;
  type: 'string' | 'number' | 'list';
  default: string | undefined;
  schema: z.ZodType;
}

let known: readonly Setting[] | undefined;

/** Every setting with its meta data. Made once, and without JSON Schema: every start of the server comes through here. */
export function settings(): readonly Setting[] {
  known ??= Object.entries(configSchema.shape).map(([name, schema]) => {
    const meta = settingMeta.get(schema);
    if (meta === undefined) throw new Error(`setting ${name} is not registered`);
    const preset = schema.safeParse(undefined).data;
    return {
      ...meta,
      name: name as SettingName,
      fileKey: name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      description: schema.description ?? '',
      type: Array.isArray(preset) ? 'list' : typeof preset === 'number' ? 'number' : 'string',
      default: preset === undefined || Array.isArray(preset) ? undefined : String(preset),
      schema,
    };
  });
  return known;
}
