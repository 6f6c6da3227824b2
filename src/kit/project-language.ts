import { field, tableOf, textField } from '../base/parse/parse.ts';
import { readContextFile, type Kit } from './kit.ts';
import { ENGLISH, FRENCH, type Wording } from './language.ts';
import { configured } from './output.ts';

/**
 * The words for a new file in a project: those of the language its documents are in, or that it is spoken to in. Of the
 * languages there are no words for, English is the one more people read. Where nothing is set, the other one.
 */
export async function projectWording(kit: Kit, otherwise: Wording): Promise<Wording> {
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
  const language = languages.find((each) => each !== undefined && /^\s*\p{L}/u.test(each));
  if (language === undefined) return otherwise;
  return /^\s*fr(?:$|[^\p{L}]|an[cç])/iu.test(language) ? FRENCH : ENGLISH;
}
