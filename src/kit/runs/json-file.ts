import { t } from '../../base/text/message.ts';
import { BmadError } from '../../base/errors.ts';
import { readInside } from '../../base/files/files.ts';
import { isTable, type Table } from '../../base/parse/parse.ts';
import { conflictsIn, conflictText } from '../../base/text/conflicts.ts';
import { utf8Text } from '../utf8.ts';
import { isTooDeep } from '../../base/parse/nesting.ts';

const MAX_BYTES = 20_000_000;

/** A table, undefined if there is no file, or what is wrong with it in our own words. */
export type JsonReading =
  | { table: Table; broken?: undefined; conflict?: undefined }
  /** Which of the two sides of a conflict holds is not for the file to say. */
  | { table?: undefined; broken?: string; conflict?: true };

export async function readJson(base: string, path: string): Promise<JsonReading> {
  const text = await plainText(base, path);
  if (text === undefined) return {};
  if (typeof text !== 'string') return text;
  if (text.trim() === '') return { broken: t`is empty` };
  const conflicts = conflictsIn(text);
  if (conflicts !== undefined) return { broken: conflictText('', conflicts).trim(), conflict: true };
  try {
    const value: unknown = JSON.parse(text);
    if (isTooDeep(value)) return { broken: t`is nested too deeply` };
    return isTable(value) ? { table: value } : { broken: t`is not a JSON object` };
  } catch (error) {
    return { broken: t`is not valid JSON${placeOf(error, text)}` };
  }
}

/** The text, of a conflict both sides, which is told; nothing when there is no file. */
export async function readText(
  base: string,
  path: string,
  problems: string[] = [],
): ReturnType<typeof plainText> {
  const text = await plainText(base, path);
  const conflicts = typeof text === 'string' ? conflictsIn(text) : undefined;
  if (conflicts === undefined) return text;
  problems.push(`${conflictText(path, conflicts)}.`);
  return conflicts.both;
}

/** The text without its byte order mark. */
async function plainText(base: string, path: string): Promise<string | undefined | { broken: string }> {
  try {
    const bytes = await readInside(base, path, MAX_BYTES);
    const text = utf8Text(bytes);
    return text === undefined ? { broken: t`is not UTF-8` } : text.replace(/^\uFEFF/, '');
  } catch (error) {
    if (!(error instanceof BmadError)) throw error;
    if (error.code === 'not_found') return undefined;
    if (error.code === 'too_large') return { broken: t`is larger than ${MAX_BYTES} bytes` };
    return { broken: error.reason === 'outside' ? t`points outside and is not read` : t`cannot be read` };
  }
}

/** The parser's own words may repeat what is in the file; only the place is taken from them. */
function placeOf(error: unknown, text: string): string {
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  if (position === undefined) return '';
  return t` (line ${text.slice(0, Number(position)).split('\n').length})`;
}
