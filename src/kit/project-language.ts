import { field, tableOf, textField } from '../base/parse/parse.ts';
import { lineLanguage } from '../base/text/spoken.ts';
import { readContextFile, type Kit } from './kit.ts';
import { ENGLISH, FRENCH, type Wording } from './language.ts';
import { configured } from './output.ts';

/**
 * The language that the documents of a project are in, or that it is spoken to in, as it names it; nothing where it sets
 * none.
 */
async function projectLanguage(kit: Kit): Promise<string | undefined> {
  const { value } = await readContextFile(kit.root, kit.folder, []);
  const user = tableOf(field(tableOf(value), 'user'));
  // In the order in which all other answers look for it.
  const said = async (setting: string, key: string): Promise<(string | undefined)[]> => [
    ...(await configured(kit.root, setting, 'overrides')),
    textField(user, key),
    ...(await configured(kit.root, setting, 'installed')),
  ];
  const languages = [
    ...(await said('document_output_language', 'document_language')),
    ...(await said('communication_language', 'language')),
  ];
  // Installers leave placeholders behind, which say nothing.
  return languages.find((each) => each !== undefined && /^\s*\p{L}/u.test(each))?.trim();
}

const FRENCH_NAME = /^fr(?:$|[^\p{L}]|an[cç])/iu;
const ENGLISH_NAME = /^(?:en(?:$|[^\p{L}]|gl)|anglais)/iu;

/** The words for a new file in a project. Of the languages there are no words for, English is the one more people read. */
export async function projectWording(kit: Kit, otherwise: Wording): Promise<Wording> {
  const language = await projectLanguage(kit);
  if (language === undefined) return otherwise;
  return FRENCH_NAME.test(language) ? FRENCH : ENGLISH;
}

/** What a text is in and what it should be in, where it is plainly in another language than the project's. */
export async function otherLanguage(
  kit: Kit,
  text: string,
): Promise<{ spoken: 'French' | 'English'; wanted: string } | undefined> {
  const spoken = lineLanguage(text);
  if (spoken === undefined) return undefined;
  const wanted = await projectLanguage(kit);
  // Only of the two that can be told apart.
  const isOther = { French: ENGLISH_NAME, English: FRENCH_NAME }[spoken];
  return wanted !== undefined && isOther.test(wanted) ? { spoken, wanted } : undefined;
}
