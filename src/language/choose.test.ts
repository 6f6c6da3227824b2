import { describe, expect, it } from 'vitest';
import { chosenLanguage, languageOf } from './choose.ts';

describe('the language that is spoken', () => {
  it.each([
    ['nothing', {}, 'en'],
    ['a French locale', { env: { LANG: 'fr_FR.UTF-8' } }, 'fr'],
    ['a locale of Quebec', { env: { LC_ALL: 'fr_CA' } }, 'fr'],
    ['the plain locale', { env: { LANG: 'C.UTF-8' } }, 'en'],
    ['POSIX', { env: { LANG: 'POSIX' } }, 'en'],
    ['a locale that does not exist', { env: { LANG: 'xx_YY.UTF-8' } }, 'en'],
    ['a locale that only begins alike', { env: { LANG: 'fry_NL' } }, 'en'],
    ['another locale', { env: { LANG: 'de_DE' } }, 'en'],
    ['LC_ALL before LANG', { env: { LC_ALL: 'C', LANG: 'fr_FR' } }, 'en'],
    ['LC_MESSAGES before LANG', { env: { LC_MESSAGES: 'fr_FR', LANG: 'en_US' } }, 'fr'],
    ['an empty LC_ALL', { env: { LC_ALL: '', LANG: 'fr_FR' } }, 'fr'],
    ['the person before the locale', { person: 'French', env: { LANG: 'en_US' } }, 'fr'],
    ['the project before the person', { project: 'English', person: 'French' }, 'en'],
    ['the project before the locale', { project: 'Français', env: { LANG: 'en_US' } }, 'fr'],
    ['the setting before the project', { setting: 'en', project: 'French' }, 'en'],
    ['a project in a third language', { project: 'Deutsch', env: { LANG: 'fr_FR' } }, 'fr'],
  ])('with %s', (_name, wishes, language) => {
    expect(chosenLanguage({ env: {}, ...wishes })).toBe(language);
  });

  it('is known by its names, codes and locales', () => {
    expect(['fr', 'FR', 'fr-FR', 'French', 'français', 'Francais'].map(languageOf)).toEqual(
      Array(6).fill('fr'),
    );
    expect(['en', 'en_GB.UTF-8', 'English', 'anglais'].map(languageOf)).toEqual(Array(4).fill('en'));
    expect(['', 'klingon', '日本語', undefined].map(languageOf)).toEqual(Array(4).fill(undefined));
  });
});
