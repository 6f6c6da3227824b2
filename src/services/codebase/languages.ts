import { t } from '../../base/text/message.ts';
import languages from '../../../assets/code/languages.json' with { type: 'json' };
import { BmadError, quoted } from '../../base/errors.ts';
import { nearest } from '../../base/text/suggest.ts';

interface CodeLanguage {
  /** The name users give and answers show. */
  name: string;
  extensions: readonly string[];
  /** Other names it is known by. */
  aliases?: readonly string[];
  /** Text about code, or data: found after code of equal worth. */
  prose?: boolean;
}

/** Every language there is a name for; those with a grammar are in `definitions.ts`. */
const LANGUAGES: readonly CodeLanguage[] = languages;

const byExtension = new Map(
  LANGUAGES.flatMap((language) => language.extensions.map((extension) => [extension, language] as const)),
);
const byName = new Map(LANGUAGES.map((language) => [language.name, language] as const));

/** What a file is written in, by its name; everything else is text. */
export function languageOf(path: string): string {
  const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return byExtension.get(extension)?.name ?? 'text';
}

export function isProse(language: string): boolean {
  return byName.get(language)?.prose === true;
}

/** The language a caller means; an error that names the nearest when there is none. */
export function knownLanguage(name: string): string {
  const wanted = name.trim().toLowerCase().replace(/^\./, '');
  const found =
    byName.get(wanted) ??
    LANGUAGES.find(({ aliases }) => aliases?.includes(wanted)) ??
    byExtension.get(wanted);
  if (found !== undefined) return found.name;
  const names = LANGUAGES.map((language) => language.name);
  throw new BmadError('invalid_input', t`There is no language ${quoted(name)}.`, {
    subject: name.slice(0, 100),
    // One letter is in almost every word.
    suggestions: nearest(
      wanted,
      names.filter((known) => known.length > 1),
      2,
    ),
    hint: t`Languages: ${names.join(', ')}.`,
  });
}
