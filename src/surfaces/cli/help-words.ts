import { Help, type HelpConfiguration } from 'commander';
import type { Words } from '../../language/translator.ts';

/** Stands for a space that must not break: the parser would break there as at any other. */
const HELD = '\u{E001}';

/**
 * Help in the language of a person. Each text is said while it is whole: a line of one that is broken already is no text
 * that the catalogue has. What is typed (usage, terms, examples) is not said at all.
 */
export function helpIn(say: Words): HelpConfiguration {
  const english = new Help();
  return {
    styleTitle: say,
    commandDescription: (command) => say(english.commandDescription(command)),
    optionDescription: (option) => say(english.optionDescription(option)),
    argumentDescription: (argument) => say(english.argumentDescription(argument)),
    boxWrap: (text, width) =>
      english.boxWrap(text.replaceAll('\u00A0', HELD), width).replaceAll(HELD, '\u00A0'),
  };
}
