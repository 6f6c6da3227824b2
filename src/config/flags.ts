import { say, t } from '../base/text/message.ts';
import { BmadError } from '../base/errors.ts';
import { CLI_PROGRAM } from '../base/product.ts';
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
  const { settings: found, rest } = extractSettings(args, undefined, true);
  const result: ParsedFlags<Switch, Value> = { settings: found, switches: new Set(), values: {} };
  const end = rest.indexOf('--');
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index] ?? '';
    if (index === end) continue;
    const isFlag = word.startsWith('--') && (end === -1 || index < end);
    const equals = isFlag ? word.indexOf('=') : -1;
    const written = equals === -1 ? word : word.slice(0, equals);
    const given = equals === -1 ? undefined : word.slice(equals + 1);
    const flag = (names: readonly string[]): string | undefined =>
      isFlag ? names.find((name) => written === `--${name}`) : undefined;
    const [own, valued] = [flag(switches), flag(values)];
    if (own !== undefined) {
      if (given !== undefined) throw new BmadError('invalid_input', t`${written} does not take a value.`);
      result.switches.add(own as Switch);
    } else if (valued !== undefined) {
      const value = given ?? rest[++index];
      if (value === undefined) throw new BmadError('invalid_input', t`${written} needs a value.`);
      result.values[valued as Value] = value;
    } else {
      throw new BmadError(
        'invalid_input',
        t`Unknown flag or argument ${JSON.stringify(stripAddressCredentials(written).slice(0, 80))}.`,
        {
          suggestions: nearest(written, [
            ...[...switches, ...values].map((name) => `--${name}`),
            ...settings().map(({ flag: known }) => known),
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
  takesBare = false,
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
    const bare = takesBare ? bareSetting(word) : undefined;
    if (setting === undefined || isOwn(flag, rest)) {
      if (bare === undefined) rest.push(word);
      else keep(found, bare, word);
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
      const head = `  ${`${flagUsage({ ...setting, type })} `.padEnd(25)} ${say(summary)}${value}`;
      return `${head.padEnd(73)} ${env}`;
    }),
    ...(left === 0
      ? []
      : [t`  and ${left} more: "${CLI_PROGRAM} config show" lists all settings and their values`]),
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
