import { t } from '../../base/text/message.ts';
import { BmadError } from '../../base/errors.ts';
import type { Colour } from './screen/look.ts';

/** How answers are shown, which every command takes. */
export interface Presentation {
  colour: Colour;
  /** Nothing is said about what is going on. */
  quiet: boolean;
}

const WHEN = { always: 'always', never: 'never', auto: undefined } as const;

/** Takes the flags for showing out of a command line; what follows `--` is text. */
export function extractPresentation(args: readonly string[]): { how: Presentation; rest: string[] } {
  const how: Presentation = { colour: undefined, quiet: false };
  const end = args.indexOf('--');
  const flags = end === -1 ? args : args.slice(0, end);
  const rest = flags.filter((word) => {
    if (word === '--color') how.colour = 'always';
    else if (word === '--no-color') how.colour = 'never';
    else if (word === '--quiet') how.quiet = true;
    else if (word.startsWith('--color=')) how.colour = whenOf(word.slice('--color='.length));
    else return true;
    return false;
  });
  return { how, rest: [...rest, ...(end === -1 ? [] : args.slice(end))] };
}

function whenOf(word: string): Colour {
  if (word in WHEN) return WHEN[word as keyof typeof WHEN];
  throw new BmadError('invalid_input', t`--color takes always, never or auto.`, {
    suggestions: Object.keys(WHEN),
  });
}
