import type { Catalogue } from '../base/text/message.ts';
import { loadConfig } from '../config/load.ts';
import { userPersonFile } from '../config/locations.ts';
import { readPerson } from '../hosts/person.ts';
import { readKit } from '../kit/kit.ts';
import { projectLanguages } from '../kit/language.ts';
import { chosenLanguage, type Language, languageOf } from '../language/choose.ts';
import { configFiles, earlyRoot, type Outside, type Settings } from './settings.ts';

/** The words that a person at this machine is spoken to in; nothing where that is English, as everything is written. */
export async function spokenWords(
  outside: Outside,
  read?: Promise<Settings>,
): Promise<Catalogue | undefined> {
  if ((await spokenLanguage(outside, read)) === 'en') return undefined;
  return (await import('../language/french.ts')).FRENCH;
}

/**
 * The language that a person at this machine is spoken to in. Whatever cannot be read here says nothing. A program that has
 * read its settings need not have them read again.
 */
export async function spokenLanguage(outside: Outside, read?: Promise<Settings>): Promise<Language> {
  const { flags, env } = outside;
  const typed = languageOf([flags.language ?? env['BMAD_LANG'] ?? []].flat().at(-1));
  if (typed !== undefined) return typed;
  const known = await read?.catch(() => undefined);
  const root = known === undefined ? await earlyRoot(outside) : known.root;
  const { config } = known ?? (await settingsOfFiles(outside, root)) ?? {};
  return chosenLanguage({
    setting: config?.language,
    project: await projectLanguage(root),
    person: await readPerson(userPersonFile(outside)).then(
      (person) => person.communication_language,
      () => undefined,
    ),
    env,
  });
}

/** Without what was typed, which may be what is wrong. */
async function settingsOfFiles(outside: Outside, root: string | undefined) {
  return loadConfig({ flags: {}, env: {}, files: configFiles(outside, root) }).catch(() => undefined);
}

async function projectLanguage(root: string | undefined): Promise<string | undefined> {
  if (root === undefined) return undefined;
  return readKit(root)
    .then(projectLanguages)
    .then(
      ({ answers }) => answers,
      () => undefined,
    );
}
