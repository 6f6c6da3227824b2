import type { Settings } from '../app/settings.ts';
import type { RawSettings } from '../config/schema.ts';
import type { Catalogue } from '../base/text/message.ts';
import { outside } from './outside.ts';

/** The words that the person at the terminal is spoken to in; nothing for English. What knows other languages is loaded only then. */
export async function wordsFor(
  settings: RawSettings,
  read?: () => Promise<Settings>,
): Promise<Catalogue | undefined> {
  // Who says so needs none of what finds out.
  const asked = [settings.language ?? process.env['BMAD_LANG'] ?? []].flat().at(-1);
  if (asked === 'en') return undefined;
  const { spokenWords } = await import('../app/spoken-language.ts');
  return spokenWords(outside(settings), read?.());
}
