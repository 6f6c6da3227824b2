import { say, t } from '../base/text/message.ts';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { BmadError } from '../base/errors.ts';
import { stripAddressCredentials } from '../base/secrets/rules.ts';
import { nearest } from '../base/text/suggest.ts';
import { settings, type RawSettings, type Setting } from './schema.ts';

export interface ParsedFlags<Switch extends string, Value extends string> {
  /** Values for settings, as they were typed. */
  settings: RawSettings;
  switches: Set<Switch>;
  values: Partial<Record<Value, string>>;
}

/**
 * Reads a command line made of settings, switches and values that are not settings. Anything else is refused with the
 * nearest flag.
 */
export function parseFlags<Switch extends string, Value extends string = never>(
  args: readonly string[],
  switches: readonly Switch[],
  values: readonly Value[] = [],
): ParsedFlags<Switch, Value> {
  const all = settings();
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const name of switches) options[name] = { type: 'boolean' };
  for (const name of values) options[name] = { type: 'string' };
  for (const { flag, type } of all)
    options[flag.slice(2)] = { type: type === 'boolean' ? 'boolean' : 'string' };
  const { tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const result: ParsedFlags<Switch, Value> = { settings: {}, switches: new Set(), values: {} };
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    const written = token.kind === 'option' ? token.rawName : token.value;
    const setting = token.kind === 'option' ? all.find(({ flag }) => flag === token.rawName) : undefined;
    if (setting !== undefined && token.kind === 'option') {
      const value = token.value ?? (setting.type === 'boolean' ? 'true' : undefined);
      if (value === undefined)
        throw new BmadError('invalid_input', t`${written} needs a value.`, { hint: setting.description });
      keep(result.settings, setting, value);
    } else if (token.kind === 'option' && token.value === undefined && denied(token.rawName) !== undefined) {
      deny(result.settings, denied(token.rawName) as Setting);
    } else if (token.kind === 'positional' && bareSetting(token.value) !== undefined) {
      keep(result.settings, bareSetting(token.value) as Setting, token.value);
    } else if (token.kind === 'option' && (switches as readonly string[]).includes(token.name)) {
      if (token.value !== undefined)
        throw new BmadError('invalid_input', t`${written} does not take a value.`);
      result.switches.add(token.name as Switch);
    } else if (token.kind === 'option' && (values as readonly string[]).includes(token.name)) {
      if (token.value === undefined) throw new BmadError('invalid_input', t`${written} needs a value.`);
      result.values[token.name as Value] = token.value;
    } else {
      throw new BmadError(
        'invalid_input',
        t`Unknown flag or argument ${JSON.stringify(stripAddressCredentials(written).slice(0, 80))}.`,
        {
          suggestions: nearest(written, [
            ...[...switches, ...values].map((name) => `--${name}`),
            ...all.map(({ flag }) => flag),
          ]),
          hint: t`--help lists all flags.`,
        },
      );
    }
  }
  return result;
}

/** The setting that a bare word on the command line belongs to. */
function bareSetting(word: string): Setting | undefined {
  return settings().find(({ bare }) => bare !== undefined && new RegExp(bare).test(word));
}

/** The setting that a flag such as `--no-watch` switches off. */
function denied(word: string): Setting | undefined {
  return settings().find(({ flag, off }) => off !== undefined && word === `--no-${flag.slice(2)}`);
}

function deny(into: RawSettings, setting: Setting): void {
  keep(into, setting, setting.off ?? '');
}

function keep(into: RawSettings, { name, type }: Setting, value: string): void {
  into[name] = type === 'list' ? [...[into[name] ?? []].flat(), value] : value;
}

/** Extracts the settings from a command line whose other words are parsed elsewhere; `isOwn` has those of a command by the same name. */
export function extractSettings(
  args: readonly string[],
  isOwn: (flag: string, before: readonly string[]) => boolean = () => false,
): {
  settings: RawSettings;
  rest: string[];
} {
  const found: RawSettings = {};
  const rest: string[] = [];
  const all = settings();
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? '';
    if (word === '--') return { settings: found, rest: [...rest, ...args.slice(index)] };
    const equals = word.indexOf('=');
    const flag = equals === -1 ? word : word.slice(0, equals);
    const setting = all.find((candidate) => candidate.flag === flag);
    const without = denied(word);
    if (without !== undefined) {
      deny(found, without);
      continue;
    }
    if (setting === undefined || isOwn(flag, rest)) {
      rest.push(word);
      continue;
    }
    const next = (): string | undefined => (setting.type === 'boolean' ? 'true' : args[++index]);
    const value = equals === -1 ? next() : word.slice(equals + 1);
    if (value === undefined)
      throw new BmadError('invalid_input', t`${flag} needs a value.`, { hint: setting.description });
    keep(found, setting, value);
  }
  return { settings: found, rest };
}

/** The settings as lines of a help text, each short enough for a terminal of 100 columns. */
export function settingsHelp(
  presets: RawSettings = {},
  { common = false, only }: { common?: boolean; only?: readonly string[] } = {},
): string {
  const shown =
    only?.flatMap((wanted) => settings().filter(({ name }) => name === wanted)) ??
    settings().filter(({ rare }) => !common || rare !== true);
  const left = only === undefined ? settings().length - shown.length : 0;
  return [
    ...shown.map(({ name, type, env, summary, default: usual, ...setting }) => {
      const preset = [presets[name] ?? usual ?? []].flat().join(', ') || undefined;
      const value = preset === undefined || type === 'boolean' ? '' : ` [${preset}]`;
      return `  ${flagUsage({ ...setting, type }).padEnd(25)} ${`${say(summary)}${value}`.padEnd(45)} ${env}`;
    }),
    ...(left === 0 ? [] : [t`  and ${left} more: "config show" lists all settings and their values`]),
  ].join('\n');
}

/** A flag with what has to follow it: `--project <folder>`, `--read-only`; `--no-…` for what is on anyway. */
export function flagUsage({
  flag,
  placeholder,
  type,
  off,
}: Pick<Setting, 'flag' | 'placeholder' | 'type' | 'off'>): string {
  if (type !== 'boolean') return `${flag} <${placeholder}>`;
  return off === undefined ? flag : `--no-${flag.slice(2)}`;
}
