import { oneLine } from '../base/text.ts';
import type { BmadRecord } from '../model/record.ts';

const DESCRIPTION_LENGTH = 90;
/** A part that all share is worth leaving out from here on. */
const SHARED_PART = 12;

/**
 * What tells records of one name apart, one text for each, as short as it can be: only what is not the same for all, and
 * the description only where the rest leaves two of them alike. The module stands in their names.
 */
export function differencesOf(records: readonly BmadRecord[]): string[] {
  const fields = [
    records.map(({ title, displayName, name }) => title ?? displayName ?? name),
    records.map(({ kind }) => kind),
    records.map(({ phase }) => phase ?? ''),
    records.map(({ origin }) => origin.displayName),
  ].filter(isTelling);
  const texts = fields.some(tellsAll) ? fields : [...fields, descriptions(records)].filter(isTelling);
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
  const texts = records.map(({ description }) => description.replace(/\s+/g, ' ').trim());
  const from = sharedLength(texts);
  const rests = texts.map((text) => text.slice(from));
  const to = sharedLength(rests.map(reversed));
  return rests.map((rest) => {
    const own = rest.slice(0, rest.length - to).trim();
    if (own === '') return '';
    return oneLine(`${from === 0 ? '' : '…'}${own}${to === 0 ? '' : '…'}`, DESCRIPTION_LENGTH);
  });
}

/** How much all texts have in common at their beginning, in whole words; nothing where it is hardly worth a mark. */
function sharedLength([first = '', ...others]: readonly string[]): number {
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  const shared = Math.min(length, first.lastIndexOf(' ', length) + 1);
  return shared < SHARED_PART ? 0 : shared;
}

function reversed(text: string): string {
  return [...text].reverse().join('');
}
