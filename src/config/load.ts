import { basename, delimiter, dirname } from 'node:path';
import { BmadError, quoted } from '../base/errors.ts';
import { readInside } from '../base/files/files.ts';
import { isSecretName } from '../base/secrets/names.ts';
import { stripUrlCredentials } from '../base/secrets/rules.ts';
import { visibleJson } from '../base/text/hidden.ts';
import { Kept, say, t } from '../base/text/message.ts';
import { nearest } from '../base/text/suggest.ts';
import { cut } from '../base/text/text.ts';
import {
  type Config,
  configSchema,
  type RawSettings,
  type Setting,
  type SettingName,
  settings,
} from './schema.ts';

/** Where the value in force came from, in words a person can act on. */
class GivenBy extends Kept {
  readonly layer: LayerName | 'default';
  constructor(layer: GivenBy['layer'], said: () => string) {
    super(said);
    this.layer = layer;
  }
}

export type ConfigSources = Record<SettingName, GivenBy>;

export interface LoadedConfig {
  config: Config;
  from: ConfigSources;
  /** Where each entry of a list came from that all layers add to; one that several name is there several times. */
  gathered: Partial<Record<SettingName, GivenValue[]>>;
  /** Values that were ignored, and why. */
  warnings: string[];
}

type LayerName = 'flag' | 'environment' | 'project' | 'user' | 'preset';

export interface GivenValue {
  value: string;
  layer: LayerName;
  /** The layer in words: the flag, the variable, the file. */
  from: Kept;
}

export interface ConfigInput {
  /** Raw values by setting name, as the command line gave them. */
  flags: RawSettings;
  env: Readonly<Record<string, string | undefined>>;
  /** Configuration files, the stronger first. */
  files: readonly ConfigFile[];
  /** Defaults of one program that differ from the common ones. */
  presets?: RawSettings;
}

interface ConfigFile {
  /** What it is, in words that are in the catalogue. */
  label: string;
  path: string;
  /** Whether it comes with a project, and so from the project's author: it must not point to folders of the machine. */
  ofProject?: true;
}

interface Layer {
  name: LayerName;
  label(setting: Setting): string;
  value(setting: Setting): unknown;
  /** An invalid flag stops the start; an invalid variable or file entry is reported and ignored. */
  strict: boolean;
  ofProject?: true;
}

/** Puts the layers together: flags › environment › project file › user file › defaults. */
export async function loadConfig(input: ConfigInput): Promise<LoadedConfig> {
  const warnings: string[] = [];
  const all = settings();
  const layers: Layer[] = [
    {
      name: 'flag',
      strict: true,
      label: (setting) => t`flag ${setting.flag}`,
      value: (setting) => input.flags[setting.name],
    },
    {
      name: 'environment',
      strict: false,
      label: (setting) => t`environment ${setting.env}`,
      value: (setting) => input.env[setting.env] || debugging(setting.name, input.env),
    },
  ];
  for (const file of input.files) {
    const table = await readConfigFile(file, all, warnings);
    if (table !== undefined) {
      layers.push({
        name: file.ofProject === true ? 'project' : 'user',
        strict: false,
        ...(file.ofProject === undefined ? {} : { ofProject: file.ofProject }),
        label: () => `${say(file.label)} ${file.path}`,
        value: (setting) => table.get(setting.fileKey),
      });
    }
  }
  const { presets = {} } = input;
  const preset: Layer = {
    name: 'preset',
    strict: true,
    label: () => t`command-line default`,
    value: (setting) => presets[setting.name],
  };
  const isProject = ({ ofProject }: Layer): boolean => ofProject === true;
  const projectLast = [...layers.filter((layer) => !isProject(layer)), ...layers.filter(isProject), preset];
  layers.push(preset);

  const chosen: Record<string, unknown> = {};
  const from: Record<string, GivenBy> = {};
  const gathered: LoadedConfig['gathered'] = {};
  for (const setting of all) {
    from[setting.name] = BY_DEFAULT;
    for (const layer of setting.yields === true ? projectLast : layers) {
      const raw = layer.value(setting);
      if (raw === undefined) continue;
      const value = accept(setting, raw);
      if (value.ok && setting.gathers === true) {
        const list = (gathered[setting.name] ??= []);
        for (const entry of value.value as string[])
          list.push({ value: entry, layer: layer.name, from: givenBy(layer, setting) });
        continue;
      }
      if (value.ok) {
        const known = chosen[setting.name];
        const by = givenBy(layer, setting);
        if (known === undefined) {
          chosen[setting.name] = value.value;
          from[setting.name] = by;
        } else if (adds(known, value.value)) {
          chosen[setting.name] = restricted(known, value.value);
          const before = from[setting.name];
          from[setting.name] = new GivenBy(layer.name, () => String(before) + t` and ${by}`);
        }
        if (layer.ofProject === true && setting.restricts === true) continue;
        break;
      }
      const told = isSecretName(setting.name) ? t`the value` : valueText(raw);
      const message = t`${layer.label(setting)}: ${told} is not valid for ${setting.fileKey}. ${say(value.reason).replace(/\.?$/, '.')}`;
      if (layer.strict || setting.binding === true)
        throw new BmadError('invalid_input', message, { hint: say(setting.description) });
      warnings.push(t`${message} It is ignored.`);
    }
    const list = gathered[setting.name];
    if (list !== undefined) {
      chosen[setting.name] = [...new Set(list.map(({ value }) => value))];
      from[setting.name] = new GivenBy(list[0]?.layer ?? 'default', () =>
        [...new Set(list.map((entry) => String(entry.from)))].join(', '),
      );
    }
  }
  return { config: configSchema.parse(chosen), from: from as ConfigSources, gathered, warnings };
}

const BY_DEFAULT = new GivenBy('default', () => t`default`);

const givenBy = (layer: Layer, setting: Setting): GivenBy =>
  new GivenBy(layer.name, () => layer.label(setting));

/** What a project takes away comes on top of what the person took away; neither is undone by the other. */
function restricted(project: unknown, own: unknown): unknown {
  return Array.isArray(project) && Array.isArray(own)
    ? [...new Set([...(project as unknown[]), ...(own as unknown[])])]
    : project === true || own === true;
}

function adds(project: unknown, own: unknown): boolean {
  return String(restricted(project, own)) !== String(project);
}

function accept(
  setting: Setting,
  raw: unknown,
): { ok: true; value: unknown } | { ok: false; reason: string } {
  const value = converted(setting, raw);
  const parsed = setting.schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, reason: parsed.error.issues[0]?.message ?? '' };
}

/** A wrong value for a message, kept short. JSON has no word for NaN and Infinity, which TOML can write. */
function valueText(raw: unknown): string {
  if (typeof raw === 'string') return quoted(stripUrlCredentials(raw));
  return typeof raw === 'number'
    ? String(raw)
    : visibleJson(cut(stripUrlCredentials(JSON.stringify(raw)), 120));
}

const SWITCH = new Map([
  ...['true', '1', 'yes', 'on'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off'].map((word) => [word, false] as const),
]);

/** Flags and variables are text; a list of folders is separated as the system does it, other lists as their setting says. */
function converted({ type, separator, gathers }: Setting, raw: unknown): unknown {
  if (gathers === true) return typeof raw === 'string' ? raw.split(/\s+/).filter(Boolean) : raw;
  if (type === 'list' && separator !== undefined) return Array.isArray(raw) ? raw.flatMap(named) : named(raw);
  if (typeof raw !== 'string') return raw;
  if (type === 'number' && raw.trim() !== '') return Number(raw);
  if (type === 'boolean') return SWITCH.get(raw.trim().toLowerCase()) ?? raw;
  return type === 'list' ? raw.split(delimiter).filter(Boolean) : raw;

  function named(text: unknown): unknown {
    if (typeof text !== 'string') return text;
    return text
      .split(separator ?? ',')
      .map((name) => name.trim())
      .filter(Boolean);
  }
}

/** The parser is loaded only when there is a file to parse: most starts have none, and start-up time counts. */
async function readConfigFile(
  file: ConfigFile,
  all: readonly Setting[],
  warnings: string[],
): Promise<Map<string, unknown> | undefined> {
  try {
    const bytes = await readInside(dirname(file.path), basename(file.path), 1_000_000);
    const { parseToml } = await import('../base/parse/parse.ts');
    const table = new Map(Object.entries(parseToml(file.path, bytes.toString('utf8'))));
    const known = all.map((setting) => setting.fileKey);
    for (const { fileKey, flag } of file.ofProject === true
      ? all.filter(({ personal }) => personal === true)
      : []) {
      if (table.delete(fileKey))
        warnings.push(
          t`${file.path}: "${fileKey}" is ignored in a project file; set it in your user file or with ${flag}.`,
        );
    }
    for (const key of table.keys()) {
      if (known.includes(key)) continue;
      const near = nearest(key, known, 1)[0];
      warnings.push(
        t`${file.path}: unknown key ${quoted(key)}${near === undefined ? '' : t`, did you mean ${near}?`}`,
      );
    }
    return table;
  } catch (error) {
    if (error instanceof BmadError && error.code === 'not_found') return undefined;
    warnings.push(
      t`${file.path} is ignored: ${error instanceof Error ? error.message : t`it cannot be read`}`,
    );
    return undefined;
  }
}

/** `BMAD_DEBUG` is what other servers for BMAD log more by. */
const debugging = (name: string, env: Readonly<Record<string, string | undefined>>): string | undefined =>
  name === 'logLevel' && /^(?:1|true)$/.test(env['BMAD_DEBUG'] ?? '') ? 'debug' : undefined;
