import meanings from '../../assets/api/errors.json' with { type: 'json' };
import { ERROR_CODES, type ErrorCode } from '../../src/base/errors.ts';
import { CLI_PROGRAM, SERVER_PROGRAM } from '../../src/base/product.ts';
import { PAGE_FLAGS } from '../../src/bin/page.ts';
import { SERVE_FLAGS, SERVE_SETTINGS } from '../../src/bin/http-access.ts';
import { flagUsage } from '../../src/config/flags.ts';
import { settings } from '../../src/config/schema.ts';
import { operations } from '../../src/operations/index.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { commandOf } from '../../src/surfaces/cli/command.ts';
import { code, propertiesOf, table } from './markdown.ts';

const commands = operations.filter(({ command }) => command !== undefined);

export function cliPage(): string[] {
  return [
    '# Command line',
    '',
    '```sh',
    `${CLI_PROGRAM} <command> [options]`,
    `${CLI_PROGRAM} <agent or workflow> [message]`,
    '```',
    '',
    'The second form is short for `execute`. Every command also takes the settings of',
    '[config.md](config.md) as flags. The answer goes to stdout; remarks and errors go to stderr.',
    ...commands.flatMap((operation) => ['', ...section(operation)]),
    '',
    ...serveSection(),
    '',
    ...pageSection(),
    '',
    '## Exit codes',
    '',
    ...table(['code', 'meaning'], exitCodes()),
  ];
}

function section(operation: AnyOperation): string[] {
  const command = commandOf(operation, () => Promise.resolve());
  const name = `${CLI_PROGRAM} ${operation.command ?? ''}`;
  const given = command.registeredArguments.map((argument) => [
    code(argument.required ? `<${argument.name()}>` : `[${argument.name()}]`),
    withDefault(operation, argument.name(), argument.description),
  ]);
  const options = command.options.map((option) => [
    code(option.flags),
    withDefault(operation, option.attributeName(), option.description),
  ]);
  const examples = operation.examples ?? [];
  return [
    `## \`${name}\``,
    '',
    operation.description,
    '',
    '```sh',
    `${name} ${command.usage()}`,
    '```',
    '',
    ...table(['argument or option', 'meaning'], [...given, ...options]),
    ...(examples.length === 0
      ? []
      : ['', 'Examples:', '', '```sh', ...examples.map((example) => `${CLI_PROGRAM} ${example}`), '```']),
  ];
}

/** The two commands that are no operations. */
function serveSection(): string[] {
  const known = SERVE_SETTINGS.flatMap((wanted) => settings().filter(({ name }) => name === wanted));
  return [
    `## \`${CLI_PROGRAM} serve\``,
    '',
    `Serves over HTTP, to several hosts at once, until Ctrl+C; the same as \`${SERVER_PROGRAM} --http\`. \`serve\` has to be`,
    'the first word. [The guide](../guide/http.md) tells more.',
    '',
    '```sh',
    `${CLI_PROGRAM} serve [options]`,
    '```',
    '',
    ...table(
      ['option', 'meaning'],
      [
        ...SERVE_FLAGS.map(([flag, meaning]) => [code(flag), `${String(meaning)}.`]),
        ...known.map((setting) => [code(flagUsage(setting)), setting.description]),
      ],
    ),
  ];
}

function pageSection(): string[] {
  return [
    `## \`${CLI_PROGRAM} page\``,
    '',
    'Prints a link to the page for people, and serves the page until Ctrl+C if no other process does. `page` has to be the',
    'first word. [The guide](../guide/page.md) tells more.',
    '',
    '```sh',
    `${CLI_PROGRAM} page [options]`,
    '```',
    '',
    ...table(
      ['option', 'meaning'],
      PAGE_FLAGS.map(([flag, meaning]) => [code(flag), `${String(meaning)}.`]),
    ),
  ];
}

function withDefault(operation: AnyOperation, name: string, description: string): string {
  const preset = propertiesOf(operation).find(([other]) => other === name)?.[1].default;
  if (typeof preset !== 'string' || description.includes('(default)')) return description;
  return `${description} (default ${preset})`;
}

function exitCodes(): string[][] {
  const failing = commands
    .filter(({ failed }) => failed !== undefined)
    .map(({ command = '' }) => code(command));
  const byExit = new Map<number, string[]>();
  for (const [name, { exit }] of Object.entries(ERROR_CODES))
    byExit.set(exit, [...(byExit.get(exit) ?? []), `${code(name)}: ${meanings[name as ErrorCode]}`]);
  return [
    ['0', 'The command did what it was asked.'],
    ['1', `The answer of ${failing.join(', ')} reports a failure.`],
    ...[...byExit].sort(([a], [b]) => a - b).map(([exit, texts]) => [String(exit), texts.join(' ')]),
  ];
}
