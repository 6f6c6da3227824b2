import { operations } from '../../operations/index.ts';

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
