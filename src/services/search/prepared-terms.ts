import { analyse } from '../../meaning/analyse.ts';
import { FIELDS, type RecordText } from './record-text.ts';

/** The terms of what is built in, made when the server was built: to find them took a third of the first search. */
export const TERMS_FILE = 'search-terms.json';

export type Analyse = (text: string) => readonly string[];

/** The file for these texts. No term has a space in it. */
export function prepareTerms(texts: readonly RecordText[]): string {
  const all = texts.flatMap(({ fields }) => FIELDS.flatMap((field) => fields[field]));
  return JSON.stringify(Object.fromEntries(all.map((text) => [text, analyse(text).join(' ')])));
}

/** Looks up what was prepared; other texts, and all of them without a file that can be read, are analysed. */
export function withTerms(file: Buffer | undefined): Analyse {
  const known = prepared(file);
  return (text) => {
    const terms = known.get(text);
    return terms === undefined ? analyse(text) : terms === '' ? [] : terms.split(' ');
  };
}

function prepared(file: Buffer | undefined): Map<string, string> {
  try {
    return new Map(Object.entries(JSON.parse(file?.toString('utf8') ?? '{}') as Record<string, string>));
  } catch {
    return new Map();
  }
}
