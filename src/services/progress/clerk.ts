import { t } from '../../base/text/message.ts';
import { join, posix } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { unlessMissing } from '../../base/expected.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { removeShared, replaceShared } from '../../base/files/file-shared.ts';
import { readInside } from '../../base/files/files.ts';
import { hunksOf } from '../../base/text/diff.ts';
import type { YamlPair } from '../../base/parse/parse-places.ts';
import type { SprintLedger } from './sprint-ledger.ts';

const LOCK_WAIT_MS = 10_000;
const MAX_BYTES = 8 * 1024 * 1024;

/** Text in the place of other text; of nothing, where both offsets are the same. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** A file as it was read and as it is to be; one that is new was nothing. */
export interface Writing {
  file: string;
  before: string | undefined;
  after: string;
}

export function replaced({ place }: YamlPair, to: string): Edit | undefined {
  if (place === undefined) return undefined;
  const { start, end, quote, gap } = place;
  return { start, end, text: `${gap}${quote}${to}${quote}` };
}

/** The text with all edits in it; several new rows at one place keep their order. */
export function edited(text: string, edits: readonly Edit[]): string {
  let after = '';
  let from = 0;
  // The sort is stable.
  for (const { start, end, text: piece } of edits.toSorted((a, b) => a.start - b.start)) {
    after += text.slice(from, start) + piece;
    from = end;
  }
  return after + text.slice(from);
}

/** Each changed line as it was and as it will be. */
export function diffOf({ file, before = '', after }: Writing): string {
  const hunks = hunksOf(before.replaceAll('\r\n', '\n'), after.replaceAll('\r\n', '\n'), 0);
  const lines = hunks.flatMap(({ oldStart, lines: changed }) => [
    t`@@ line ${oldStart} @@`,
    ...changed.filter((line) => !line.startsWith('\\')),
  ]);
  return `${[`--- ${file}`, `+++ ${file}`, ...lines].join('\n')}\n`;
}

const two = (value: number): string => String(value).padStart(2, '0');
const timeOf = (now: Date): string => `${two(now.getHours())}:${two(now.getMinutes())}`;

const dayOf = (now: Date): string => `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;

/** As BMAD's memlog notes it. */
export const timestamp = (now: Date): string => `${dayOf(now)}T${timeOf(now)}`;

/** The form in which BMAD's own tools write when they have changed a ledger. */
export function ledgerTime(now: Date): string {
  return `${two(now.getMonth() + 1)}-${two(now.getDate())}-${now.getFullYear()} ${timeOf(now)}`;
}

/** BMAD's own tools note when they change the ledger; in the form that is there. */
export function stamp(sprint: SprintLedger | undefined, file: string, now: Date): Edit[] {
  const pair = sprint?.file === file ? sprint.lastUpdated : undefined;
  if (pair === undefined) return [];
  const day = dayOf(now);
  const forms: [RegExp, string][] = [
    [/^\d{2}-\d{2}-\d{4} \d{2}:\d{2}$/, ledgerTime(now)],
    [/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}$/, `${day} ${timeOf(now)}`],
    [/^\d{4}-\d{2}-\d{2}$/, day],
  ];
  const form = forms.find(([pattern]) => pattern.test(String(pair.value)))?.[1];
  const edit = form === undefined ? undefined : replaced(pair, form);
  return edit === undefined ? [] : [edit];
}

/** Runs while no other process of ours changes one of these files; all take them in the same order. */
export async function whileLocked<T>(
  root: string,
  files: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const [file, ...others] = [...new Set(files)].sort();
  if (file === undefined) return work();
  const lock = join(root, posix.dirname(file), `.${posix.basename(file)}.lock`);
  return withLock(lock, { waitMs: LOCK_WAIT_MS, inside: root, tidy: true }, () =>
    whileLocked(root, others, work),
  );
}

/**
 * Writes all of these files or none. Tools of others do not know our locks, so the bytes are compared once more. Every new
 * version is complete on the disk before the first takes its place, in the order given; where one cannot, those before it
 * get back what they had.
 */
export async function writeTogether(root: string, writings: readonly Writing[]): Promise<void> {
  for (const { file, before } of writings)
    if ((await textAt(root, file)) !== before)
      throw new BmadError('conflict', t`${file} has changed in the meantime; nothing was written.`, {
        subject: file,
        hint: t`Ask for the changes again.`,
      });
  const written: Writing[] = [];
  const write = async (count: number): Promise<void> => {
    const writing = writings[count - 1];
    if (writing === undefined) return;
    await replaceShared(root, writing.file, writing.after, () => write(count - 1));
    written.push(writing);
  };
  try {
    await write(writings.length);
  } catch (error) {
    for (const { file, before } of written.toReversed())
      await (before === undefined ? removeShared(root, file) : replaceShared(root, file, before));
    throw error;
  }
}

async function textAt(root: string, file: string): Promise<string | undefined> {
  const bytes = await readInside(root, file, MAX_BYTES).catch(unlessMissing);
  return bytes?.toString('utf8');
}
