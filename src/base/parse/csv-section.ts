import { t } from '../text/message.ts';
import { attempt, BmadError, orElse, quoted } from '../errors.ts';
import { formatCsv, parseCsv } from './parse.ts';
import { fold, nearest } from '../text/suggest.ts';

/** The rows of a table that are about something, under its header: those with a cell of just these words, else those that have them in a cell. */
export function csvSection(text: string, words: string): string {
  const [header = [], ...rows] = attempt(() => parseCsv(t`the table`, text), orElse<string[][]>([]));
  const wanted = fold(words);
  const exact = rows.filter((row) => row.some((cell) => fold(cell) === wanted));
  const found =
    exact.length > 0 ? exact : rows.filter((row) => row.some((cell) => fold(cell).includes(wanted)));
  if (found.length > 0) return formatCsv([header, ...found]);
  const firsts = rows.map(([first = '']) => first);
  throw new BmadError('not_found', t`No row of this table has ${quoted(words)} in it.`, {
    subject: words,
    suggestions: nearest(words, firsts),
    hint: t`Columns: ${header.slice(0, 20).join(', ')}. Omit the section to read the whole table.`,
  });
}
