import { orElse } from '../../base/expected.ts';
import { lineLanguage, namedLanguage } from '../../base/text/spoken.ts';
import type { Activation, StatePort } from '../context.ts';

/** No name of a language is longer. */
const NAME = /^\p{L}[\p{L} ()-]{1,39}$/u;

/**
 * Said where a message is plainly in another language than the one that the project sets: a model answers in the language
 * of the message otherwise, and writes its documents in it.
 */
export async function languageRemark(
  { material }: Activation,
  message: string | undefined,
  project: string | undefined,
  context: StatePort,
): Promise<string | undefined> {
  const spoken = message === undefined ? undefined : lineLanguage(message);
  if (spoken === undefined) return undefined;
  const [, inForce = ''] = (material.settings ?? []).find(([key]) => key === 'communication_language') ?? [];
  if (namedLanguage(inForce) === spoken) return undefined;
  // A default is nobody's choice: only what a file of the project says counts.
  const { answers, documents } = await context
    .state(project)
    .then(async (state) => (await state.facts()).languages())
    .catch(orElse({ answers: undefined, documents: undefined }));
  const wanted = answers ?? documents;
  if (wanted === undefined || !NAME.test(wanted) || [spoken, undefined].includes(namedLanguage(wanted)))
    return undefined;
  const written = documents !== undefined && NAME.test(documents) ? documents : wanted;
  return `The message is in ${spoken}, but this project is set to ${wanted}: answer in ${wanted} and write documents in ${written}, unless the user asks for another language.`;
}
