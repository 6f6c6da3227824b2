import { describe, expect, it } from 'vitest';
import { extractSettings } from '../../config/flags.ts';
import { settings } from '../../config/schema.ts';
import { OPTIONS } from './commands.prepared.ts';
import { isOwnOption } from './completion.ts';

const flags = new Set(settings().map(({ flag }) => flag));
const shared = OPTIONS.flatMap(({ command, options }) =>
  options.filter((option) => flags.has(option)).map((option) => ({ command, option })),
);

describe('an option of a command that is also a setting', () => {
  it('is there: the language of code and that of a person', () => {
    expect(shared).toContainEqual({ command: 'code', option: '--lang' });
  });

  it.each(shared)(
    '$command $option goes to the command, before it to the settings',
    ({ command, option }) => {
      const words = command.split(' ');
      const setting = settings().find(({ flag }) => flag === option);
      expect(extractSettings([...words, 'x', option, 'y'], isOwnOption)).toEqual({
        settings: {},
        rest: [...words, 'x', option, 'y'],
      });
      expect(extractSettings([option, 'y', ...words, 'x'], isOwnOption)).toEqual({
        settings: { [setting?.name ?? '']: 'y' },
        rest: [...words, 'x'],
      });
      expect(extractSettings(['--quiet', ...words, option, 'y'], isOwnOption).settings).toEqual({});
      expect(extractSettings(['search', ...words, option, 'y'], isOwnOption).rest).toEqual([
        'search',
        ...words,
      ]);
    },
  );
});
