import { Help, type HelpConfiguration } from 'commander';
import { say, t } from '../../base/text/message.ts';

/** Stands for a space that must not break: the parser would break there as at any other. */
const HELD = '\u{E001}';

/**
 * Help in the language of a person. Each text is said while it is whole: a line of one that is broken already is no text
 * that the catalogue has. What is typed (usage, terms, examples) is not said at all.
 */
export function helpIn(): HelpConfiguration {
  const english = new Help();
  return {
    styleTitle: (title) => say(title),
    commandDescription: (command) => say(english.commandDescription(command)),
    optionDescription: (option) => withDefault(say(option.description), option),
    argumentDescription: (argument) => withDefault(say(argument.description), argument),
    boxWrap: (text, width) =>
      english.boxWrap(text.replaceAll('\u00A0', HELD), width).replaceAll(HELD, '\u00A0'),
  };
}

interface Taken {
  argChoices?: string[];
  defaultValue?: unknown;
  defaultValueDescription?: string | undefined;
}

/** What the parser puts behind a description. */
function withDefault(text: string, { argChoices, defaultValue, defaultValueDescription }: Taken): string {
  const more = [
    ...(argChoices === undefined
      ? []
      : [t`choices: ${argChoices.map((choice) => JSON.stringify(choice)).join(', ')}`]),
    ...(defaultValue === undefined || defaultValue === false
      ? []
      : [t`default: ${defaultValueDescription ?? JSON.stringify(defaultValue)}`]),
  ];
  if (more.length === 0) return text;
  return text === '' ? `(${more.join(', ')})` : `${text} (${more.join(', ')})`;
}

/** What the parser says of a command line that it does not understand, by what it begins with; what follows was typed. */
const COMPLAINTS: readonly (readonly [RegExp, (...typed: string[]) => string])[] = [
  [/^error: unknown option '(.*?)'$/, (option = '') => t`error: unknown option '${option}'`],
  [/^error: unknown command '(.*?)'$/, (command = '') => t`error: unknown command '${command}'`],
  [
    /^error: missing required argument '(.*?)'$/,
    (name = '') => t`error: missing required argument '${name}'`,
  ],
  [
    /^error: option '(.*?)' argument missing$/,
    (option = '') => t`error: option '${option}' argument missing`,
  ],
  [
    /^error: option '([^']{0,80})' argument '(.{0,200})' is invalid\. (.{0,300})$/,
    (option = '', value = '', why = '') =>
      t`error: option '${option}' argument '${value}' is invalid. ${complaint(why)}`,
  ],
  [
    /^error: command-argument value '(.{0,200})' is invalid for argument '([^']{0,80})'\. (.{0,300})$/,
    (value = '', name = '', why = '') =>
      t`error: command-argument value '${value}' is invalid for argument '${name}'. ${complaint(why)}`,
  ],
  [
    /^error: too many arguments(?: for '(.*?)')?\. Expected (\d+) arguments? but got (\d+)\.$/,
    (_command = '', expected = '', got = '') =>
      t`error: too many arguments: ${expected} expected, ${got} given.`,
  ],
  [/^Allowed choices are (.*)\.$/, (choices = '') => t`Allowed choices are ${choices}.`],
  [/^\(Did you mean one of (.*)\?\)$/, (names = '') => t`(Did you mean one of ${names}?)`],
  [/^\(Did you mean (.*)\?\)$/, (name = '') => t`(Did you mean ${name}?)`],
];

/** A complaint of the parser in the language of the person. */
export function complaint(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      for (const [shape, told] of COMPLAINTS) {
        const found = shape.exec(line);
        if (found !== null) return told(...found.slice(1));
      }
      return say(line);
    })
    .join('\n');
}
