import { jsonObject } from '../../base/parse/json.ts';
import { field } from '../../base/parse/parse.ts';
import { readText } from './json-file.ts';
import type { RunPlace } from '../../model/run.ts';
import { entryOf, type Entry } from './run-fold.ts';

/**
 * A version before kept what happened to a run in a file beside its state. It is read for as long as no line is about the
 * run, and stays where it is: an older version continues from the state it finds.
 */
export const JOURNAL_FILE = 'journal.jsonl';

export interface Journal {
  entries: Entry[];
  /** Lines that could not be understood; a crash may leave one. */
  broken: number;
}

export function journalIn(text: string): Journal {
  const entries: Entry[] = [];
  let broken = 0;
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const value = jsonObject(line);
    const entry = typeof value?.['seq'] === 'number' ? entryOf(field(value, 'event'), value) : undefined;
    if (entry === undefined) broken += 1;
    else entries.push(entry);
  }
  return { entries, broken };
}

/** What the journal in a folder says; of a conflict both sides, which is told. */
export async function readJournal(
  { base, path }: RunPlace,
  problems: string[],
): Promise<Journal | { unread: string } | undefined> {
  const text = await readText(base, `${path}/${JOURNAL_FILE}`, problems);
  if (text === undefined) return undefined;
  return typeof text === 'string' ? journalIn(text) : { unread: text.broken };
}
