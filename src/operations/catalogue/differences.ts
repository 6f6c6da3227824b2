import { oneLine } from '../../base/text/text.ts';
import type { BmadRecord } from '../../model/record.ts';

const DESCRIPTION_LENGTH = 90;
/** So many words that all share are worth leaving out. */
const SHARED_WORDS = 2;

/**
 * What tells records of one name apart, one text for each, as short as it can be: only what is not the same for all, and
 * the description only where their titles leave two of them alike. The module stands in their names.
 */
export function differencesOf(records: readonly BmadRecord[]): string[] {
  const titles = records.map(({ title, displayName, name }) => title ?? displayName ?? name);
  const fields = [
    titles,
    records.map(({ kind }) => kind),
    records.map(({ phase }) => phase ?? ''),
    records.map(({ origin }) => origin.displayName),
  ].filter(isTelling);
  // A phase or an origin is no description of what something is for.
  const isDescribed = fields.some((values) => tellsAll(values) && values === titles);
  const texts = isDescribed ? fields : [...fields, descriptions(records)].filter(isTelling);
  return records.map((_, index) =>
    texts
      .map((values) => values[index] ?? '')
      .filter(Boolean)
      .join(', '),
  );
}

function isTelling(values: readonly string[]): boolean {
  return new Set(values).size > 1;
}

function tellsAll(values: readonly string[]): boolean {
  return new Set(values).size === values.length;
}

/** The descriptions without the words that all of them begin or end with. */
function descriptions(records: readonly BmadRecord[]): string[] {
  const texts = records.map(({ description }) => description.trim().split(/\s+/));
  const from = sharedWords(texts);
  const rests = texts.map((words) => words.slice(from));
  const to = sharedWords(rests.map((words) => words.toReversed()));
  return rests.map((words) => {
    const own = words.slice(0, words.length - to).join(' ');
    if (own === '') return '';
    return oneLine(`${from === 0 ? '' : '…'}${own}${to === 0 ? '' : '…'}`, DESCRIPTION_LENGTH);
  });
}

/** How many words all texts begin with; none where leaving them out is hardly worth a mark. */
function sharedWords([first = [], ...others]: readonly (readonly string[])[]): number {
  const differs = first.findIndex((word, at) => others.some((words) => words[at] !== word));
  const shared = differs < 0 ? first.length : differs;
  return shared < SHARED_WORDS ? 0 : shared;
}
