import { CLI_PROGRAM } from '../../base/product.ts';
import { stepArguments, type StepWriter } from '../../base/step.ts';
import { OFFERED } from '../../operations/offered.ts';
import { flagOf } from './flags.ts';

/** A step as a command line. What has no command cannot be done in a terminal. */
export const asCommand: StepWriter = (step) => {
  const { command, positional = [] } = OFFERED[step.operation] ?? {};
  if (command === undefined) return undefined;
  const { kind: _kind, ...args } = stepArguments(step);
  const byPlace = positional.flatMap((name) => (args[name] === undefined ? [] : [quoted(args[name])]));
  const byName = Object.entries(args)
    .filter(([name, value]) => !positional.includes(name) && value !== undefined)
    .flatMap(([name, value]) => flagWords(name, value));
  return [CLI_PROGRAM, command, ...byPlace, ...byName].join(' ');
};

function flagWords(name: string, value: unknown): string[] {
  const flag = flagOf(name);
  if (value === true) return [`--${flag}`];
  if (value === false) return [`--no-${flag}`];
  if (Array.isArray(value)) return [`--${flag}`, quoted(value.join(','))];
  return [`--${flag}`, quoted(value)];
}

function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[\w./:@…-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
