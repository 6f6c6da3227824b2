import words from '../../assets/words/kit-files.json' with { type: 'json' };
import { field, tableOf, textField } from '../base/parse/parse.ts';
import { lineLanguage, namedLanguage } from '../base/text/message.ts';
import { readConfiguration, contextFiles, firstPage } from './configuration.ts';
import type { Kit } from './kit.ts';
import { plainTitle } from './text.ts';

/** The words of the files in each language. The kit's own tools look for the French ones, or for both. */
const FRENCH = words.French;
export const ENGLISH = words.English;
export type Wording = typeof FRENCH;

const ENGLISH_WORDS =
  /\b(?:critical|important failures|failures|errors|what happened|root cause|lesson|last session|work done|current state|next step|inter-agent requests|statistics|resolved contradictions|contradictions resolved)\b/g;
const FRENCH_WORDS =
  /\b(?:critiques?|erreurs|ce qui s'est passe|cause racine|lecon|derniere session|travail effectue|etat actuel|prochaine etape|requetes|statistiques|contradictions resolues)\b/g;

/** Of a page with thousands of entries, the first tell its language as well as all of them. */
const TELLING = 50_000;

/** The language that the headings of a file are in; where they do not tell, the other one. */
export function languageOf(text: string | undefined, otherwise: Wording): Wording {
  const headings = (text?.slice(0, TELLING) ?? '')
    .split(/\r?\n/)
    .filter((line) => /^#{1,3}\s|^\s*(?:[-*]\s+)?\*\*/.test(line))
    .map(plainTitle)
    .join('\n');
  const french = headings.match(FRENCH_WORDS)?.length ?? 0;
  const english = headings.match(ENGLISH_WORDS)?.length ?? 0;
  if (french === english) return otherwise;
  return french > english ? FRENCH : ENGLISH;
}

/** The languages that a project sets, as it names them: for its documents, and for what is said to its people. */
export async function projectLanguages(
  kit: Pick<Kit, 'root' | 'folder'>,
): Promise<Record<'documents' | 'answers', string | undefined>> {
  // As it is now: a server may have opened the project before somebody set it.
  const page = await firstPage(kit.root, contextFiles(kit.folder));
  const user = tableOf(field(tableOf(page?.value), 'user'));
  const { said } = await readConfiguration(kit.root);
  // In the order in which all other answers look for it.
  const ordered = (setting: string, key: string): (string | undefined)[] => [
    ...said(setting, 'overrides'),
    textField(user, key),
    ...said(setting, 'installed'),
  ];
  // Installers leave placeholders behind, which say nothing.
  const first = (names: readonly (string | undefined)[]): string | undefined =>
    names.find((each) => each !== undefined && /^\s*\p{L}/u.test(each))?.trim();
  return {
    documents: first(ordered('document_output_language', 'document_language')),
    answers: first(ordered('communication_language', 'language')),
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
