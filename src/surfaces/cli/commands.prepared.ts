import { operations } from '../../operations/index.ts';
import * as z from 'zod';
import { flagOf } from '../../operations/offers.ts';

// Worked out when the programs are built, and a constant in them: a command line needs the code of the one command that
// was typed. Only plain data may leave this file.

/** Every command there is, in the order users see them. */
export const COMMANDS: readonly { operation: string; command: string; title: string; usage: string }[] =
  operations.flatMap(({ name, command, title, positional = [], input }) =>
    command === undefined
      ? []
      : [
          {
            operation: name,
            command,
            title,
            usage: positional
              .map((each) =>
                input.shape[each]?.safeParse(undefined).success === true ? `[${each}]` : `<${each}>`,
              )
              .join(' '),
          },
        ],
  );

// Worked out when the programs are built, like the commands themselves. Only plain data may leave this file.

/** The options of each command that is typed in full: `run open` has `--branch`. */
export const OPTIONS: readonly { command: string; options: readonly string[] }[] = operations.flatMap(
  ({ command, input, positional = [] }) => {
    if (command === undefined) return [];
    const { properties = {} } = z.toJSONSchema(input, { io: 'input' });
    const names = Object.keys(properties).filter((name) => name !== 'project' && !positional.includes(name));
    return [{ command, options: [...names.map((name) => `--${flagOf(name)}`), '--json', '--help'] }];
  },
);
