import { fold } from '../../meaning/words.ts';
import { qualifiedName, shortName, type BmadRecord } from '../../model/record.ts';
import { lettersApart } from '../../base/text/letters-apart.ts';
import { slipsIn } from './word-index.ts';

/** Case, accents and separators are ignored when names are compared. */
export function plainName(name: string): string {
  return fold(name)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}/]+/gu, '-')
    .replace(/^-+|-+$/g, '');
}

/** What a record is called, and what else it answers to. */
export function namesOf(record: BmadRecord, handle: string): { own: Set<string>; other: Set<string> } {
  const own = [record.name, shortName(record.name), qualifiedName(record), handle];
  const other = [...record.aliases, record.displayName ?? '', record.title ?? ''];
  return { own: plainNames(own), other: plainNames(other) };
}

function plainNames(names: readonly string[]): Set<string> {
  return new Set(names.map(plainName).filter((name) => name !== ''));
}

/** The longest name that is completed; anything longer is not a name. */
const LONGEST = 100;
/** A single letter stands for too many other names. */
const SHORTEST_ALIAS = 2;

/**
 * How well a name that is being typed fits, the less the better: it begins so, a word in it does, it holds it, another
 * name of the same thing begins so, or it begins almost so. Nothing when it does not fit.
 */
export function fitOf(typed: string, handle: string, others: Iterable<string>): number | undefined {
  const name = plainName(handle);
  const wanted = plainName(typed);
  if (wanted.length > LONGEST) return undefined;
  if (name.startsWith(wanted)) return 0;
  if (name.includes(wanted)) return 1;
  const known = [...others];
  if (wanted.length >= SHORTEST_ALIAS && known.some((other) => other.startsWith(wanted))) return 2;
  const slips = slipsIn(wanted);
  if (slips === 0) return undefined;
  const almost = [name, ...known].some((other) => beginsAlmost(other, wanted, slips));
  return almost ? 3 : undefined;
}

/** A slip may have made what was typed longer or shorter than what was meant. */
function beginsAlmost(name: string, typed: string, slips: number): boolean {
  for (let length = typed.length - slips; length <= typed.length + slips; length++)
    if (lettersApart(typed, name.slice(0, length), slips) <= slips) return true;
  return false;
}
