import * as z from 'zod';
import { LOG_LEVELS } from '../base/log.ts';
import { a2aSettings, httpSettings } from './http-settings.ts';
import {
  delegationSettings,
  gitSettings,
  intBetween,
  liveSettings,
  memorySettings,
  sharedSettings,
  meta,
  moduleSettings,
  originSettings,
  PERSONAL,
  rankingSettings,
  settingMeta,
  type SettingMeta,
  text,
  toolSettings,
  trustSettings,
} from './settings.ts';

/** A name, a code or a locale of a language that there are words for. */
const LANGUAGE = /^(?:fr|en)(?:$|[-_.@]|an[cç]|ench|glish)|^anglais$/i;

/** Every setting, once. Flags, environment variables, file keys, help and docs are all derived from here. */
export const configSchema = z.strictObject({
  project: text
    .optional()
    .describe(
      'Project folder. Without it, the folder the client names, else the working directory and its parents.',
    )
    .register(settingMeta, meta('folder', 'Project folder', { env: 'BMAD_PROJECT_ROOT', personal: true })),
  paths: z
    .array(text)
    .default([])
    .describe(
      'Additional folders with BMAD content, ranked before the user’s own; each may be an install, a module or a folder of agents.',
    )
    .register(
      settingMeta,
      meta('folder', 'Additional BMAD folder (repeatable)', { flag: '--path', personal: true }),
    ),
  root: text
    .optional()
    .describe(
      'A BMAD folder for all projects, ranked after the additional folders and before the user’s own.',
    )
    .register(settingMeta, meta('folder', 'BMAD folder for all projects', PERSONAL)),
  discovery: z
    .enum(['auto', 'local', 'user', 'strict'])
    .default('auto')
    .describe(
      'Which origins to use: auto (all), local (the project), user (the user’s), strict (git remotes). The user’s file decides before the project’s.',
    )
    .register(settingMeta, meta('mode', 'Origins: auto, local, user, strict', { yields: true })),
  ...moduleSettings,
  ...originSettings,
  ...gitSettings,
  cache: text
    .optional()
    .describe('Folder for anything that can be fetched again. Without it, the user’s cache folder.')
    .register(settingMeta, meta('folder', 'Folder for caches', PERSONAL)),
  ...toolSettings,
  ...memorySettings,
  ...sharedSettings,
  codeSearchMs: intBetween(100, 60_000)
    .default(3_000)
    .describe('How long a code search may read files before it answers with what it has read so far.')
    .register(settingMeta, meta('ms', 'Time limit for a code search', { rare: true })),
  contractTimeoutMs: intBetween(1_000, 3_600_000)
    .default(120_000)
    .describe('How long a completion contract may run before it is stopped and counts as failed.')
    .register(settingMeta, meta('ms', 'Time limit for a completion contract', { rare: true })),
  contractEnv: z
    .array(z.string().regex(/^[A-Za-z_]\w*$/, 'Use the name of an environment variable.'))
    .default([])
    .describe('Names of additional environment variables to pass to the programs of a completion contract.')
    .register(settingMeta, meta('names', 'Variables for contracts', { ...PERSONAL, separator: ',' })),
  ...trustSettings,
  contractsOverHttp: z
    .boolean()
    .default(false)
    .describe(
      'Let HTTP clients run completion contracts, which start programs in the project. Clients on this machine with the server’s full token may without it.',
    )
    .register(settingMeta, { ...PERSONAL, binding: true, summary: 'Completion contracts over HTTP' }),
  ...a2aSettings,
  ...rankingSettings,
  ...delegationSettings,
  ...liveSettings,
  ...httpSettings,
  traces: z
    .boolean()
    .default(false)
    .describe(
      'Record OpenTelemetry spans for MCP requests and HTTP API calls. Needs the package @opentelemetry/api and an exporter.',
    )
    .register(settingMeta, { ...PERSONAL, summary: 'Record OpenTelemetry spans' }),
  language: z
    .string()
    .regex(LANGUAGE, 'Use en or fr.')
    .optional()
    .describe(
      'Language of the command line and of what the server tells people: en or fr. Without it, the project’s communication_language, else yours, else the locale.',
    )
    .register(
      settingMeta,
      meta('en|fr', 'Language: en, fr', { env: 'BMAD_LANG', flag: '--lang', rare: true }),
    ),
  logLevel: z
    .enum(LOG_LEVELS)
    .default('warn')
    .describe('How much to log to stderr: silent, error, warn, info or debug.')
    .register(settingMeta, meta('level', 'Log level on stderr')),
  answerBytes: intBetween(2_000, 400_000)
    .default(10_000)
    .describe('Largest size of one answer; the rest moves to the next part.')
    .register(settingMeta, meta('bytes', 'Largest answer', { rare: true })),
  pageSize: intBetween(1, 200)
    .default(50)
    .describe('Entries per page of a list.')
    .register(settingMeta, meta('count', 'Entries per page', { rare: true })),
  maxFileBytes: intBetween(100_000, 100_000_000)
    .default(10_485_760)
    .describe('Largest file the server will serve; larger files are refused without being read.')
    .register(settingMeta, meta('bytes', 'Largest file served', { rare: true })),
});

export type Config = z.output<typeof configSchema>;
export type SettingName = keyof Config;

/** Settings as they were typed; one that may be repeated is a list. */
export type RawSettings = Partial<Record<SettingName, string | readonly string[]>>;

export interface Setting extends SettingMeta {
  name: SettingName;
  env: string;
  flag: string;
  placeholder: string;
  /** Key in configuration files: `answer_bytes`. */
  fileKey: string;
  description: string;
  type: 'string' | 'number' | 'boolean' | 'list';
  default: string | undefined;
  schema: z.ZodType;
}

let known: readonly Setting[] | undefined;

/** Every setting with its meta data. Made once, and without JSON Schema: every start of the server comes through here. */
export function settings(): readonly Setting[] {
  known ??= Object.entries(configSchema.shape).map(([name, schema]) => {
    const own = settingMeta.get(schema);
    if (own === undefined) throw new Error(`setting ${name} is not registered`);
    const preset = schema.safeParse(undefined).data;
    const fileKey = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return {
      env: `BMAD_${fileKey.toUpperCase()}`,
      flag: `--${fileKey.replaceAll('_', '-')}`,
      placeholder: '',
      ...own,
      name: name as SettingName,
      fileKey,
      description: schema.description ?? '',
      type: typeOf(preset),
      default: preset === undefined ? undefined : String(preset) || undefined,
      schema,
    };
  });
  return known;
}

function typeOf(preset: unknown): Setting['type'] {
  if (Array.isArray(preset)) return 'list';
  return typeof preset === 'number' ? 'number' : typeof preset === 'boolean' ? 'boolean' : 'string';
}
