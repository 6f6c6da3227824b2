import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { outsideHere, temporaryFolder } from '../../tests/support/app.ts';
import type { Outside } from './settings.ts';
import { spokenLanguage, spokenWords } from './spoken-language.ts';

async function machine(files: Record<string, string>, more: Partial<Outside> = {}): Promise<Outside> {
  const folder = await temporaryFolder(onTestFinished);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return {
    ...outsideHere({ cwd: join(folder, 'project'), home: join(folder, 'home') }),
    platform: 'linux',
    ...more,
    env: { LANG: 'en_US.UTF-8', ...more.env },
  };
}

const BMAD = 'project/_bmad/core/config.yaml';
const PERSON = 'home/.config/bmad-mcp-server/user.toml';
const USER = 'home/.config/bmad-mcp-server/config.toml';

describe('the language of a person at the terminal', () => {
  it.each([
    ['English without anything', {}, {}, 'en'],
    ['of the locale', {}, { env: { LANG: 'fr_FR.UTF-8' } }, 'fr'],
    ['of the project', { [BMAD]: 'communication_language: French\n' }, {}, 'fr'],
    ['of the person', { [PERSON]: 'communication_language = "Français"\n' }, {}, 'fr'],
    [
      'of the project before that of the person',
      { [BMAD]: 'communication_language: English\n', [PERSON]: 'communication_language = "French"\n' },
      {},
      'en',
    ],
    [
      'of the user’s file before that of the project',
      { [BMAD]: 'communication_language: French\n', [USER]: 'language = "en"\n' },
      {},
      'en',
    ],
    [
      'of the variable before all files',
      { [BMAD]: 'communication_language: English\n', [USER]: 'language = "en"\n' },
      { env: { BMAD_LANG: 'fr' } },
      'fr',
    ],
    ['of the flag before the variable', {}, { flags: { language: 'en' }, env: { BMAD_LANG: 'fr' } }, 'en'],
    ['of the locale, where the variable names none', {}, { env: { BMAD_LANG: 'xx', LANG: 'fr_FR' } }, 'fr'],
    [
      'of the locale, where no file can be read',
      { [BMAD]: ':\n\t- [', [PERSON]: '= =', [USER]: '[[' },
      { env: { LANG: 'fr_BE' } },
      'fr',
    ],
  ])('is %s', async (_name, files, more, language) => {
    expect(await spokenLanguage(await machine(files, more))).toBe(language);
  });

  it('has words where it is not English', async () => {
    expect(await spokenWords(await machine({}))).toBeUndefined();
    const words = await spokenWords(await machine({}, { env: { BMAD_LANG: 'fr' } }));
    expect(words?.['Nothing was changed.']).toBe('Rien n’a été changé.');
  });
});
