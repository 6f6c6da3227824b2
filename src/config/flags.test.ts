import { describe, expect, it } from 'vitest';
import { refusal } from '../../tests/support/thrown.ts';
import { extractSettings, flagUsage, parseFlags, settingsHelp } from './flags.ts';
import { settings } from './schema.ts';

const SWITCHES = ['summary', 'help', 'version'] as const;

describe('a command line of flags only', () => {
  it('gives settings as they were typed, and switches', () => {
    const parsed = parseFlags(
      ['--path', 'a', '--summary', '--path=b=c', '--log-level', 'info', '--log-level=debug', '--project='],
      SWITCHES,
    );
    expect(parsed.settings).toEqual({ paths: ['a', 'b=c'], logLevel: 'debug', project: '' });
    expect([...parsed.switches]).toEqual(['summary']);
    expect(parseFlags([], SWITCHES)).toEqual({ settings: {}, switches: new Set(), values: {} });
    expect(parseFlags(['--'], SWITCHES)).toEqual({ settings: {}, switches: new Set(), values: {} });
  });

  it('gives values that are no settings, the last one of a name', async () => {
    const parsed = parseFlags(['--port', '1', '--summary', '--port=2'], SWITCHES, ['port']);
    expect(parsed.values).toEqual({ port: '2' });
    expect([...parsed.switches]).toEqual(['summary']);
    const missing = await refusal(() => parseFlags(['--port'], SWITCHES, ['port']));
    expect(missing.message).toBe('--port needs a value.');
    const mistyped = await refusal(() => parseFlags(['--prot', '1'], SWITCHES, ['port']));
    expect(mistyped.suggestions[0]).toBe('--port');
  });

  it('switches off what can be, here and among other words', () => {
    expect(parseFlags(['--no-watch', '--no-prewarm'], SWITCHES).settings).toEqual({
      watch: 'off',
      prewarm: 'false',
    });
    expect(extractSettings(['doctor', '--no-watch', '--no-handshake'])).toEqual({
      settings: { watch: 'off' },
      rest: ['doctor', '--no-handshake'],
    });
  });

  it('takes a git source without its flag', () => {
    const sources = ['git+https://h/o/r.git#main:/a b', 'git@h:o/r.git', 'git+', 'git+ext::sh -c x'];
    expect(parseFlags([...sources, '--git', 'git+file:///x/y'], SWITCHES).settings).toEqual({
      git: [...sources, 'git+file:///x/y'],
    });
  });

  it.each([
    [['https://h/o/r.git'], 'https://h/o/r.git', undefined],
    [['user@host://x'], 'user@host://x', undefined],
    [['--log-levle', 'info'], '--log-levle', '--log-level'],
    [['--sumary'], '--sumary', '--summary'],
    [['--paths=a'], '--paths', '--path'],
    [['summary'], 'summary', '--summary'],
    [['--', '--summary'], '--summary', '--summary'],
    [['-s'], '-s', undefined],
    [['--no-summary'], '--no-summary', '--summary'],
    [['--no-watch=x'], '--no-watch', '--watch'],
    [['--no-log-level'], '--no-log-level', '--log-level'],
    [['--__proto__=x'], '--__proto__', undefined],
    [['--constructor'], '--constructor', undefined],
    [['something'], 'something', undefined],
  ])('refuses %j with the near one', async (args, written, near) => {
    const error = await refusal(() => parseFlags(args, SWITCHES));
    expect(error.code).toBe('invalid_input');
    expect(error.message).toBe(`Unknown flag or argument "${written}".`);
    expect(error.suggestions[0]).toBe(near);
    expect(error.hint).toBe('--help lists all flags.');
  });

  it('refuses a setting without a value, and a switch with one', async () => {
    const missing = await refusal(() => parseFlags(['--summary', '--page-size'], SWITCHES));
    expect([missing.code, missing.message, missing.hint]).toEqual([
      'invalid_input',
      '--page-size needs a value.',
      'Entries per page of a list.',
    ]);
    const extra = await refusal(() => parseFlags(['--summary=false'], SWITCHES));
    expect([extra.code, extra.message]).toEqual(['invalid_input', '--summary does not take a value.']);
  });

  it('repeats only the beginning of a wrong word', async () => {
    const error = await refusal(() => parseFlags([`--${'x'.repeat(10_000)}`], SWITCHES));
    expect(error.message.length).toBeLessThan(200);
  });
});

describe('settings among the words of somebody else', () => {
  it('are taken out wherever they stand', () => {
    expect(
      extractSettings(['list', '--path', 'a', 'agents', '--page-size=3', '--json', '--path', 'b', '-x']),
    ).toEqual({
      settings: { paths: ['a', 'b'], pageSize: '3' },
      rest: ['list', 'agents', '--json', '-x'],
    });
  });

  it('end at --, which stays with what follows it', () => {
    expect(extractSettings(['--project', 'p', 'run', '--', '--project', 'q'])).toEqual({
      settings: { project: 'p' },
      rest: ['run', '--', '--project', 'q'],
    });
  });

  it('need a value, and may have one that looks like a flag', async () => {
    const error = await refusal(() => extractSettings(['list', '--project']));
    expect([error.code, error.message]).toEqual(['invalid_input', '--project needs a value.']);
    expect(extractSettings(['--project', '--odd', '--root=']).settings).toEqual({
      project: '--odd',
      root: '',
    });
  });

  it('leave near names to the other reader', () => {
    const args = ['--projects', 'x', '--pathology=1', '=', ''];
    expect(extractSettings(args)).toEqual({ settings: {}, rest: args });
  });
});

describe('the help on settings', () => {
  it('has a line of at most 100 columns for each, with the default in force', () => {
    const lines = settingsHelp({ answerBytes: '20000' }).split('\n');
    expect(lines).toHaveLength(settings().length);
    for (const [index, setting] of settings().entries()) {
      const { env } = setting;
      expect(lines[index]).toContain(`  ${flagUsage(setting)} `);
      expect(lines[index]).toMatch(new RegExp(` ${env}$`));
      expect(lines[index]?.length).toBeLessThanOrEqual(100);
    }
    const line = (flag: string): string => lines.find((text) => text.includes(flag)) ?? '';
    expect(line('--answer-bytes')).toContain('[20000]');
    expect(line('--page-size')).toContain('[50]');
    expect(line('--project')).not.toContain('[');
  });
});
