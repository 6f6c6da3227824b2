import { parseArgs, type ParseArgsConfig } from 'node:util';
import { BmadError } from '../base/errors.ts';
import { nearest } from '../base/suggest.ts';
import { settings, type SettingName } from './schema.ts';

export interface ParsedFlags<Switch extends string> {
  /** Values for settings, as they were typed. */
  settings: Partial<Record<SettingName, string>>;
  switches: Set<Switch>;
}

/** Reads a command line made of settings and switches only. Anything else is refused with the nearest flag. */
export function parseFlags<Switch extends string>(args: readonly string[], switches: readonly Switch[]): ParsedFlags<Switch> {
  const all = settings();
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const name of switches) options[name] = { type: 'boolean' };
  for (const setting of all) options[setting.flag.slice(2)] = { type: 'string' };
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  const result: ParsedFlags<Switch> = { settings: {}, switches: new Set() };
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    const written = token.kind === 'option' ? token.rawName : token.value;
    const setting = token.kind === 'option' ? all.find(({ flag }) => flag === token.rawName) : undefined;
    if (setting !== undefined && token.kind === 'option') {
      if (token.value === undefined) throw new BmadError('invalid_input', `${written} needs a value.`, { hint: setting.description });
      result.settings[setting.name] = token.value;
    } else if (token.kind === 'option' && (switches as readonly string[]).includes(token.name)) {
      result.switches.add(token.name as Switch);
    } else {
      throw new BmadError('invalid_input', `There is no flag or argument ${JSON.stringify(written.slice(0, 80))}.`, {
        suggestions: nearest(written, [...switches.map((name) => `--${name}`), ...all.map(({ flag }) => flag)]),
        hint: '--help lists them.',
      });
    }
  }
  return result;
}

/** The settings as lines of a help text. */
export function settingsHelp(): string {
  const rows = settings().map((setting) => {
    const preset = setting.default === undefined ? '' : ` [${setting.default}]`;
    return [`${setting.flag} <${setting.placeholder}>`, `${setting.description}${preset} (${setting.env})`] as const;
  });
  const width = Math.max(...rows.map(([flag]) => flag.length));
  return rows.map(([flag, words]) => `  ${flag.padEnd(width)}  ${words}`).join('\n');
}
