import { field, tableOf, textField } from '../base/parse/parse.ts';
import { lineLanguage, namedLanguage } from '../base/text/message.ts';
import { contextFiles, firstPage, type Kit } from './kit.ts';
import { ENGLISH, FRENCH, type Wording } from './language.ts';
import { configured } from './output.ts';

/** The languages that a project sets, as it names them: for its documents, and for what is said to its people. */
export async function projectLanguages(
  kit: Pick<Kit, 'root' | 'folder'>,
): Promise<Record<'documents' | 'answers', string | undefined>> {
  // As it is now: a server may have opened the project before somebody set it.
  const page = await firstPage(kit.root, contextFiles(kit.folder));
  const user = tableOf(field(tableOf(page?.value), 'user'));
  // In the order in which all other answers look for it.
  const said = async (setting: string, key: string): Promise<(string | undefined)[]> => [
    ...(await configured(kit.root, setting, 'overrides')),
    textField(user, key),
    ...(await configured(kit.root, setting, 'installed')),
  ];
  // Installers leave placeholders behind, which say nothing.
  const first = (names: readonly (string | undefined)[]): string | undefined =>
    names.find((each) => each !== undefined && /^\s*\p{L}/u.test(each))?.trim();
  return {
    documents: first(await said('document_output_language', 'document_language')),
    answers: first(await said('communication_language', 'language')),
  };
}

/**
 * The language that the documents of a project are in, or that it is spoken to in, as it names it; nothing where it sets
 * none.
 */
async function projectLanguage(kit: Kit): Promise<string | undefined> {
  const { documents, answers } = await projectLanguages(kit);
  return documents ?? answers;
}

/**
 * The words for a new file in a project, whatever language is spoken to the one who writes it. Where the project sets none,
 * the kit's own tools look for French words in the kit's folder. Of the languages there are no words for, English is the one
 * more people read.
 */
export async function projectWording(kit: Kit): Promise<Wording> {
  const language = await projectLanguage(kit);
  const isFrench =
    language === undefined
      ? kit.memory !== undefined && kit.keptWith === undefined
      : namedLanguage(language) === 'French';
  return isFrench ? FRENCH : ENGLISH;
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
  const named = wanted === undefined ? undefined : namedLanguage(wanted);
  return wanted !== undefined && named !== undefined && named !== spoken ? { spoken, wanted } : undefined;
}
