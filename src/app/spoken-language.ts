import { loadConfig } from '../config/load.ts';
import { userPersonFile } from '../config/locations.ts';
import { readPerson } from '../hosts/person.ts';
import { readKit } from '../kit/kit.ts';
import { projectLanguages } from '../kit/project-language.ts';
import { chosenLanguage, languageOf, type Language } from '../language/choose.ts';
import type { Words } from '../language/translator.ts';
import { configFiles, earlyRoot, type Outside } from './settings.ts';

/** How a person at this machine is spoken to; nothing where that is English, as everything is written. */
export async function spokenWords(outside: Outside): Promise<Words | undefined> {
  if ((await spokenLanguage(outside)) === 'en') return undefined;
  return (await import('../language/french.ts')).inFrench;
}

/** The language that a person at this machine is spoken to in. Whatever cannot be read here says nothing. */
export async function spokenLanguage(outside: Outside): Promise<Language> {
  const { flags, env } = outside;
  const typed = languageOf([flags.language ?? env['BMAD_LANG'] ?? []].flat().at(-1));
  if (typed !== undefined) return typed;
  const root = await earlyRoot(outside);
  const files = configFiles(outside, root);
  const loaded = await loadConfig({ flags: {}, env: {}, files }).catch(() => undefined);
  return chosenLanguage({
    setting: loaded?.config.language,
    project: await projectLanguage(root),
    person: await readPerson(userPersonFile(outside)).then(
      (person) => person.communication_language,
      () => undefined,
    ),
    env,
  });
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
