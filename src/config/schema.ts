import * as z from 'zod';
import { LOG_LEVELS } from '../base/log.ts';
import { a2aSettings } from './a2a-settings.ts';
import { codeSettings } from './code-settings.ts';
import { contractSettings } from './contract-settings.ts';
import { delegationSettings } from './delegation-settings.ts';
import { gitSettings } from './git-settings.ts';
import { httpSettings } from './http-settings.ts';
import { memorySettings } from './memory-settings.ts';
import { rankingSettings } from './ranking-settings.ts';
import { settingMeta, type SettingMeta } from './setting-meta.ts';
import { toolSettings } from './tool-settings.ts';
import { traceSettings } from './trace-settings.ts';

/** Every setting, once. Flags, environment variables, file keys, help and docs are all derived from here. */
export const configSchema = z.strictObject({
  project: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Project folder. Without it, the folder the client names, else the working directory and its parents.',
    )
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
      'Additional folders with BMAD content, ranked before the user’s own; each may be an install, a module or a folder of agents.',
    )
    .register(settingMeta, {
      env: 'BMAD_PATHS',
      personal: true,
      flag: '--path',
      placeholder: 'folder',
      summary: 'Additional BMAD folder (repeatable)',
    }),
  root: z
    .string()
    .min(1)
    .optional()
    .describe(
      'A BMAD folder for all projects, ranked after the additional folders and before the user’s own.',
    )
    .register(settingMeta, {
      env: 'BMAD_ROOT',
      personal: true,
      flag: '--root',
      rare: true,
      placeholder: 'folder',
      summary: 'BMAD folder for all projects',
    }),
  discovery: z
    .enum(['auto', 'local', 'user', 'strict'])
    .default('auto')
    .describe(
      'Which origins to use: auto (all), local (the project), user (the user’s), strict (git remotes).',
    )
    .register(settingMeta, {
      env: 'BMAD_DISCOVERY',
      flag: '--discovery',
      placeholder: 'mode',
      summary: 'Origins: auto, local, user, strict',
    }),
  ...gitSettings,
  cache: z
    .string()
    .min(1)
    .optional()
    .describe('Folder for anything that can be fetched again. Without it, the user’s cache folder.')
    .register(settingMeta, {
      env: 'BMAD_CACHE',
      personal: true,
      flag: '--cache',
      rare: true,
      placeholder: 'folder',
      summary: 'Folder for caches',
    }),
  ...toolSettings,
  ...memorySettings,
  ...codeSettings,
  ...contractSettings,
  ...a2aSettings,
  ...rankingSettings,
  ...delegationSettings,
  ...httpSettings,
  ...traceSettings,
  logLevel: z
    .enum(LOG_LEVELS)
    .default('warn')
    .describe('How much to log to stderr: silent, error, warn, info or debug.')
    .register(settingMeta, {
      env: 'BMAD_LOG_LEVEL',
      flag: '--log-level',
      placeholder: 'level',
      summary: 'Log level on stderr',
    }),
  answerBytes: z
    .int()
    .min(2_000)
    .max(400_000)
    .default(10_000)
    .describe('Largest size of one answer; the rest moves to the next part.')
    .register(settingMeta, {
      env: 'BMAD_ANSWER_BYTES',
      flag: '--answer-bytes',
      rare: true,
      placeholder: 'bytes',
      summary: 'Largest answer',
    }),
  pageSize: z
    .int()
    .min(1)
    .max(200)
    .default(50)
    .describe('Entries per page of a list.')
    .register(settingMeta, {
      env: 'BMAD_PAGE_SIZE',
      flag: '--page-size',
      rare: true,
      placeholder: 'count',
      summary: 'Entries per page',
    }),
  maxFileBytes: z
    .int()
    .min(100_000)
    .max(100_000_000)
    .default(10_485_760)
    .describe('Largest file the server will serve; larger files are refused without being read.')
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
  type: 'string' | 'number' | 'boolean' | 'list';
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
