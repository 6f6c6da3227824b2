import { CLI_PROGRAM } from '../base/product.ts';
import type { Step } from '../base/step.ts';
import { OFFERED } from './offered.ts';
import { writtenArguments } from './offers.ts';

/** `min_score` is `--min-score` on the command line. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('_', '-');
}

/** A step as a command line. What has no command cannot be done in a terminal. */
export function commandLine(step: Step, program: readonly string[] = [CLI_PROGRAM]): string | undefined {
  const { command, positional = [] } = OFFERED[step.operation] ?? {};
  if (command === undefined) return undefined;
  const { kind: _kind, ...args } = writtenArguments(step);
  const byPlace = positional.flatMap((name) =>
    args[name] === undefined ? [] : [args[name]].flat().map(quoted),
  );
  const byName = Object.entries(args)
    .filter(([name, value]) => !positional.includes(name) && value !== undefined)
    .flatMap(([name, value]) => flagWords(name, value));
  return [...program.map(quoted), command, ...byPlace, ...byName].join(' ');
}

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
