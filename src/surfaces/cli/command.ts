import { Command, InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import type { AnyOperation } from '../../operations/operation.ts';

interface Property {
  type?: string;
  enum?: string[];
  default?: unknown;
  description?: string;
}

/** Runs an operation with the arguments that were typed. */
export type RunOperation = (
  operation: AnyOperation,
  args: Record<string, unknown>,
  json: boolean,
) => Promise<void>;

/** Makes the command of an operation: positional arguments and flags come from its input schema. */
export function commandOf(operation: AnyOperation, run: RunOperation): Command {
  const words = (operation.command ?? operation.name).split(' ');
  const command = new Command(words.at(-1));
  const schema = z.toJSONSchema(operation.input, { io: 'input' });
  // The project is a setting that every command takes, so it is not an option of each of them again.
  const { project: _project, ...properties } = (schema.properties ?? {}) as Record<string, Property>;
  const required = new Set(schema.required);
  const positional = operation.positional ?? [];
  command.description(operation.description);
  for (const name of positional) {
    command.argument(required.has(name) ? `<${name}>` : `[${name}]`, describe(properties[name]));
  }
  for (const [name, property] of Object.entries(properties)) {
    if (!positional.includes(name)) command.addOption(optionOf(name, property));
  }
  command.option('--json', 'print the data as JSON');
  if (operation.examples !== undefined) {
    command.addHelpText(
      'after',
      `\nExamples:\n${operation.examples.map((example) => `  bmad ${example}`).join('\n')}`,
    );
  }
  command.action(async (...given: unknown[]) => {
    // The program knows --json too, and takes it wherever it stands on the line.
    const flags = command.optsWithGlobals<Record<string, unknown>>();
    const args: Record<string, unknown> = {};
    for (const [index, name] of positional.entries())
      if (given[index] !== undefined) args[name] = given[index];
    for (const name of Object.keys(properties))
      if (!positional.includes(name) && flags[name] !== undefined) args[name] = flags[name];
    await run(operation, args, flags['json'] === true);
  });
  return command;
}

function optionOf(name: string, property: Property): Option {
  const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  if (property.type === 'boolean') {
    return property.default === true
      ? new Option(`--no-${flag}`, `do not: ${describe(property)}`)
      : new Option(`--${flag}`, describe(property));
  }
  const option = new Option(
    `--${flag} <${property.type === 'integer' ? 'number' : 'text'}>`,
    describe(property),
  );
  return property.type === 'integer' ? option.argParser(wholeNumber) : option;
}

function describe(property: Property | undefined): string {
  const text = property?.description ?? '';
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value)) throw new InvalidArgumentError('A whole number is expected.');
  return value;
}
