import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { bmadHere } from '../../../tests/support/command-line.ts';
import { FRENCH } from '../../language/french.ts';
import { operations } from '../../operations/index.ts';
import { COMMANDS } from './commands.prepared.ts';
import { COMPLETION, REMEMBER, SHORTCUT_WORDS } from './overview.ts';

const cwd = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);
const env = { HOME: home, PATH: process.env['PATH'] ?? '', NO_COLOR: '1', BMAD_EMBEDDER: 'none' };

const GROUPS = [...new Set(COMMANDS.map(({ command }) => command.split(' ')[0] ?? ''))].filter(
  (first) => !COMMANDS.some(({ command }) => command === first),
);
const TYPED = [...COMMANDS.map(({ command }) => command), REMEMBER.word, COMPLETION];

/** What a command line prints into pipes. */
async function printed(language: 'en' | 'fr', typed: string): Promise<string> {
  const { screen } = await bmadHere([...typed.split(' '), '--lang', language], { cwd, env });
  return screen;
}
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');
/** The lines that say how something is typed, in English words. */
const usageIn = (help: string): string[] =>
  help
    .split('\n')
    .filter((line) => line.startsWith('Usage'))
    .map((line) => line.replace('Usage\u00A0:', 'Usage:').replaceAll('<commande>', '<command>'));
const exampleLines = (help: string): string[] => help.split('\n').filter((line) => /^ +bmad /.test(line));
/** The first column, where the names of commands, arguments and options are. */
const terms = (help: string): string[] =>
  [...help.matchAll(/^ {2}(\S.*?) {2,}/gm)].map(([, term = '']) => term);

describe('the French help of every command', () => {
  it.each([...TYPED, ...GROUPS])('%s says how it is typed as the English one does', async (typed) => {
    const [french, english] = [await printed('fr', `help ${typed}`), await printed('en', `help ${typed}`)];
    expect(usageIn(french)).toHaveLength(1);
    expect(usageIn(french)).toEqual(usageIn(english));
    expect(exampleLines(french)).toEqual(exampleLines(english));
    expect(terms(french)).toEqual(terms(english));
    expect(await printed('fr', `${typed} --help`)).toBe(french);
  });

  it.each(COMMANDS)('$command has its whole description', async ({ command, operation }) => {
    const description = operations.find(({ name }) => name === operation)?.description ?? '';
    const whole = FRENCH[description] ?? '';
    expect(whole, description).not.toBe('');
    const help = await printed('fr', `help ${command}`);
    expect(oneLine(help)).toContain(oneLine(whole));
    // A space before a colon does not break.
    expect(help).not.toMatch(/^\s*[:;!?»]/m);
  });

  it('is the same behind a wrong flag', async () => {
    for (const typed of TYPED) {
      const french = await printed('fr', `${typed} --no-such-flag`);
      expect(french).toContain('erreur\u00A0: option inconnue «\u00A0--no-such-flag\u00A0»');
      expect(usageIn(french)).toEqual(usageIn(await printed('en', `${typed} --no-such-flag`)));
    }
    expect(await printed('fr', 'contract run --no-such-flag')).toContain(
      '\nUsage\u00A0: bmad contract run [options]\nbmad contract run --help l’explique.',
    );
    expect(await printed('fr', 'contract run --no-such-flag --json')).toContain('unknown option');
  });

  it('is French for what delivers texts of BMAD too, in both ways to ask', async () => {
    for (const typed of ['help execute', 'execute --help', 'help start', 'help read']) {
      const help = await printed('fr', typed);
      expect(help, typed).toContain('Options\u00A0:');
      expect(help, typed).toContain('afficher l’aide');
    }
  });

  it('names the same commands in the overview', async () => {
    const [french, english] = [await printed('fr', 'help --all'), await printed('en', 'help --all')];
    expect(terms(french)).toEqual(terms(english));
    for (const word of [...GROUPS, ...SHORTCUT_WORDS]) expect(french).toContain(word);
    const [own, other] = [/^Aussi\u00A0: ([^]*?)\nRéglages/m, /^Also: ([^]*?)\nSettings/m];
    expect(oneLine(own.exec(french)?.[1] ?? '')).toBe(oneLine(other.exec(english)?.[1] ?? 'none'));
  });
});
