import * as z from 'zod';
import { flagOf } from '../../operations/offers.ts';
import { operations } from '../../operations/index.ts';

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
