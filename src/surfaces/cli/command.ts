import { t } from '../../base/text/message.ts';
import { Command, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import type { BmadError } from '../../base/errors.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import { flagOf } from '../../operations/offers.ts';

interface Property {
  type?: string;
  enum?: string[];
  default?: unknown;
  description?: string;
  items?: { maxLength?: number };
}

/** How an answer is printed. */
export interface Printing {
  json: boolean;
  /** A file to the byte, with all that is hidden in it. */
  raw: boolean;
  /** Whether the text goes to the clipboard of the person. */
  copy?: boolean;
  /** What is missing of what it needs, where a person can be asked for it. */
  missing?: readonly string[];
  /** Whether nothing is asked before something is removed. */
  sure?: boolean;
  /** What is said if nothing is found under the word that was typed. */
  instead?: BmadError | undefined;
  /** What is said beside that error: the command that was perhaps meant. */
  otherwise?: string | undefined;
}

/** Runs an operation with the arguments that were typed. */
export type RunOperation = (
  operation: AnyOperation,
  args: Record<string, unknown>,
  how: Printing,
) => Promise<void>;

interface InputSchema {
  properties: Record<string, Property>;
  required: ReadonlySet<string>;
}

const schemas = new WeakMap<AnyOperation, InputSchema>();

/** A program that runs many command lines needs it for each, and it takes longer to make than all the rest of a command. */
function inputSchema(operation: AnyOperation): InputSchema {
  const known = schemas.get(operation);
  if (known !== undefined) return known;
  const { properties = {}, required } = z.toJSONSchema(operation.input, { io: 'input' });
  const made = { properties: properties as Record<string, Property>, required: new Set(required) };
  schemas.set(operation, made);
  return made;
}

/** The operation whose answer is a text for a model, which people put where one reads it. */
const STARTS = 'execute';
export const copyOption = (): Option =>
  new Option('--copy', t`put the text for a model into the clipboard instead`);

/** Whether a person may leave out what this command needs, to be asked for it. */
export const asksForMissing = ({ picks, reviews }: AnyOperation): boolean =>
  picks !== undefined || reviews === true;

/** Makes the command of an operation: positional arguments and flags come from its input schema. */
export function commandOf(
  operation: AnyOperation,
  run: RunOperation,
  { askable = false }: { askable?: boolean } = {},
): Command {
  const words = (operation.command ?? operation.name).split(' ');
  const command = new Command(words.at(-1));
  const schema = inputSchema(operation);
  // The project is a setting that every command takes, so it is not an option of each of them again.
  const { project: _project, ...properties } = schema.properties;
  const { required } = schema;
  const asks = askable && asksForMissing(operation);
  const positional = operation.positional ?? [];
  const sentence = operation.sentence === true ? positional.at(-1) : undefined;
  command.description(operation.description);
  for (const name of positional) {
    const typed = properties[name]?.type === 'array' || name === sentence ? `${name}...` : name;
    command.argument(required.has(name) && !asks ? `<${typed}>` : `[${typed}]`, describe(properties[name]));
  }
  for (const [name, property] of Object.entries(properties)) {
    if (!positional.includes(name)) command.addOption(optionOf(name, property));
  }
  command.option('--json', t`print the data as JSON`);
  if (operation.removes !== undefined && properties['yes'] === undefined)
    command.option('--yes', t`do not ask before removing`);
  if (operation.name === STARTS) command.addOption(copyOption());
  if (operation.printsFile === true)
    command.option('--raw', t`to a pipe or file: every byte, hidden characters as they are`);
  if (operation.examples !== undefined) {
    command.addHelpText(
      'after',
      `\n${t`Examples:`}\n${operation.examples.map((example) => `  bmad ${example}`).join('\n')}`,
    );
  }
  command.action(async (...given: unknown[]) => {
    // The program knows --json too, and accepts it anywhere on the line.
    const flags = command.optsWithGlobals<Record<string, unknown>>();
    const args: Record<string, unknown> = {};
    for (const [index, name] of positional.entries())
      if (given[index] !== undefined && !isEmptyList(given[index]))
        args[name] = understood(
          name === sentence ? (given[index] as string[]).join(' ') : given[index],
          properties[name],
        );
    for (const name of Object.keys(properties))
      if (!positional.includes(name) && flags[optionKey(name)] !== undefined)
        args[name] = understood(flags[optionKey(name)], properties[name]);
    await run(operation, args, {
      json: flags['json'] === true,
      raw: flags['raw'] === true,
      copy: flags['copy'] === true,
      sure: flags['yes'] === true,
      missing: asks ? positional.filter((name) => required.has(name) && args[name] === undefined) : [],
    });
  });
  return command;
}

/** `decision` is `decisions`, and `agent` is `agents`, where only one of the words that can be meant begins with it. */
function understood(value: unknown, { enum: known = [] }: Property = {}): unknown {
  if (typeof value !== 'string' || value === '' || known.includes(value)) return value;
  const typed = value.toLowerCase();
  // Not in the middle of a word: `done` would be `abandoned`.
  const meant = known.filter((word) => word.split(/[-_]/).some((part) => part.startsWith(typed)));
  return meant.length === 1 ? meant[0] : value;
}

/** What commander gives for words that nobody has typed. */
function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Options by the names of an operation's input, for a command that is not made from it. */
export function addOptions(command: Command, operation: AnyOperation, names: readonly string[]): void {
  const { properties } = inputSchema(operation);
  for (const name of names) command.addOption(optionOf(name, properties[name] ?? {}));
}

/** What was given of these options, by the names of the input. */
export function givenOptions(
  flags: Record<string, unknown>,
  names: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = flags[optionKey(name)];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** Commander knows `--min-score` as `minScore`. */
const optionKey = (name: string): string =>
  flagOf(name).replace(/-([a-z])/g, (_all, letter: string) => letter.toUpperCase());

function optionOf(name: string, property: Property): Option {
  const flag = flagOf(name);
  if (property.type === 'boolean') {
    return property.default === true
      ? new Option(`--no-${flag}`, t`do not ${describe(property)}`)
      : new Option(`--${flag}`, describe(property));
  }
  const number = property.type === 'integer' || property.type === 'number';
  const option = new Option(`--${flag} <${number ? 'number' : 'text'}>`, describe(property));
  if (property.type === 'array') {
    // Sentences contain commas.
    const sentences = (property.items?.maxLength ?? 0) > LONGEST_WORD;
    option.description += sentences ? t` (repeatable)` : ' (comma-separated)';
    return option.argParser(sentences ? collected : listed);
  }
  if (property.type === 'object') {
    option.flags = option.flags.replace('<text>', '<name=value>');
    option.description += t` (repeatable)`;
    return option.argParser(namedOptions);
  }
  if (property.type === 'number') return option.argParser(anyNumber);
  return property.type === 'integer' ? option.argParser(wholeNumber) : option;
}

const LONGEST_WORD = 200;

function collected(text: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), text];
}

function listed(text: string, before: readonly string[] | undefined): string[] {
  const parts = text.split(',').map((part) => part.trim());
  return [...(before ?? []), ...parts.filter((part) => part !== '')];
}

/** `name=value`, one at a time; a value that is JSON is taken as such, so that numbers and lists can be given. */
function namedOptions(text: string, before: Record<string, unknown> | undefined): Record<string, unknown> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError(t`Expected name=value.`);
  return { ...before, [text.slice(0, at)]: jsonOrText(text.slice(at + 1)) };
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function anyNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError(t`Expected a number.`);
  return value;
}

function describe(property: Property | undefined): string {
  const { description: text = '', enum: words = [] } = property ?? {};
  const choices =
    words.length === 0 || words.some((word) => text.includes(word)) ? '' : `: ${words.join(', ')}`;
  // A word in capitals is one that is typed so.
  const begins = /^\p{Lu}{2}/u.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);
  return begins + choices;
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value)) throw new InvalidArgumentError(t`Expected a whole number.`);
  return value;
}
