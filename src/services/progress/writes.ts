import type { YamlPair } from '../../base/parse/yaml-document.ts';
import { inProject } from '../../base/files/paths.ts';
import { localDay, localHour, withoutEnd, withoutStart, utf8Text } from '../../base/text/text.ts';
import { join, posix, sep } from 'node:path';
import { BmadError, quoted, unlessMissing } from '../../base/errors.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { removeShared, replaceShared } from '../../base/files/file-shared.ts';
import { isFileInside, readInside } from '../../base/files/files.ts';
import { hunksOf } from '../../base/text/diff.ts';
import { t } from '../../base/text/message.ts';
import type { SprintLedger } from './ledgers.ts';

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

/** As BMAD's memlog notes it. */
const timestamp = (now: Date): string => `${localDay(now)}T${localHour(now)}`;

/** The form in which BMAD's own tools write when they have changed a ledger. */
export function ledgerTime(now: Date): string {
  const [year, month, day] = localDay(now).split('-');
  return `${month}-${day}-${year} ${localHour(now)}`;
}

/** BMAD's own tools note when they change the ledger; in the form that is there. */
export function stamp(sprint: SprintLedger | undefined, file: string, now: Date): Edit[] {
  const pair = sprint?.file === file ? sprint.lastUpdated : undefined;
  if (pair === undefined) return [];
  const day = localDay(now);
  const forms: [RegExp, string][] = [
    [/^\d{2}-\d{2}-\d{4} \d{2}:\d{2}$/, ledgerTime(now)],
    [/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}$/, `${day} ${localHour(now)}`],
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

const MEMLOG = '.memlog.md';
const MEMLOG_BYTES = 4 * 1024 * 1024;

export interface MemlogEntry {
  workspace: string;
  text: string | undefined;
  type: string | undefined;
  by: string | undefined;
  fields: readonly (readonly [string, string])[];
  now: Date;
}

interface MemlogWritten {
  file: string;
  isNew: boolean;
  entries: number;
  diff: string;
}

/**
 * Writes into the log of a run folder what BMAD's `memlog.py` writes: `init` where there is no log yet, `set` for fields,
 * `append` for a text. The bytes are those of the script; only line ends of Windows stay as they are.
 */
export async function writeMemlog(root: string, entry: MemlogEntry): Promise<MemlogWritten> {
  const file = await logAt(root, entry.workspace);
  return whileLocked(root, [file], async () => {
    const bytes = await readInside(root, file, MEMLOG_BYTES).catch(unlessMissing);
    const before = bytes === undefined ? undefined : utf8Text(bytes);
    if (bytes !== undefined && before === undefined) throw unusable(file, t`it is not UTF-8 text`);
    if (before !== undefined && entry.text === undefined && entry.fields.length === 0)
      throw new BmadError('conflict', t`${file} is there already; nothing was written.`, {
        subject: file,
        hint: t`Give a text to add to it, or fields to set.`,
      });
    const { meta, body } =
      before === undefined ? { meta: new Map<string, string>(), body: '' } : split(file, before);
    for (const [key, value] of entry.fields) meta.set(key, value);
    const line = lineOf(entry);
    const all = line === undefined ? body : body.trim() === '' ? line : `${withoutEnd(body, '\n')}\n${line}`;
    // Kept last, so that the order of the fields can be foreseen.
    meta.delete('updated');
    meta.set('updated', timestamp(entry.now));
    const text = rendered(meta, all);
    const after = before?.includes('\r\n') === true ? text.replaceAll('\n', '\r\n') : text;
    const writing: Writing = { file, before, after };
    await writeTogether(root, [writing]);
    return {
      file,
      isNew: before === undefined,
      entries: all.split('\n').filter((each) => each.startsWith('- ')).length,
      diff: diffOf(writing),
    };
  });
}

/** The log of a folder of the project. Folders of BMAD itself, of git and the like are nobody's workspace. */
async function logAt(root: string, workspace: string): Promise<string> {
  // The top of the project is none either.
  const named = inProject(root, workspace) || '.';
  const folder = posix.basename(named) === MEMLOG ? posix.dirname(named) : named;
  const parts = folder.split('/');
  const [top = ''] = parts;
  const installs = ['_config/manifest.yaml', '_cfg/manifest.yaml'];
  const isForeign =
    parts.some((part) => part.startsWith('.') || part === 'node_modules') ||
    top === '_bmad' ||
    (await Promise.all(installs.map((path) => isFileInside(root, posix.join(top, path))))).includes(true);
  if (isForeign)
    throw new BmadError('forbidden', t`${quoted(workspace)} is not a folder for a log of this project.`, {
      subject: 'workspace',
      hint: t`Name the run folder below the project, such as _bmad-output/planning-artifacts/prds/prd-shop-2026-01-05.`,
    });
  return join(folder, MEMLOG).split(sep).join('/');
}

function split(file: string, text: string): { meta: Map<string, string>; body: string } {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const end = lines.indexOf('---', 1);
  if (lines[0] !== '---') throw unusable(file, t`it has no front matter`);
  if (end === -1) throw unusable(file, t`its front matter is not closed`);
  const meta = new Map<string, string>();
  for (const line of lines.slice(1, end)) {
    const colon = line.indexOf(':');
    if (colon !== -1) meta.set(line.slice(0, colon).trim(), line.slice(colon + 1).trim());
  }
  return {
    meta,
    body: withoutStart(lines.slice(end + 1).join('\n'), '\n'),
  };
}

function rendered(meta: ReadonlyMap<string, string>, body: string): string {
  const fields = [...meta].map(([key, value]) => `${key}: ${value.split(/\r?\n/).join(' ')}`);
  return `---\n${fields.join('\n')}\n---\n\n${withoutEnd(body, '\n')}\n`;
}

function lineOf({ text, type, by }: MemlogEntry): string | undefined {
  if (text === undefined) return undefined;
  const label = [type, by === undefined ? undefined : `by ${by}`].filter(Boolean).join(' ');
  const words = text.split(/\s+/).filter(Boolean).join(' ');
  return `- ${label === '' ? '' : `(${label}) `}${words}`;
}

function unusable(file: string, why: string): BmadError {
  return new BmadError('conflict', t`${file} cannot be used: ${why}; nothing was written.`, {
    subject: file,
    hint: t`Repair its beginning: a line "---", the fields, a line "---".`,
  });
}
