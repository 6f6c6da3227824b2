import { t } from '../../base/text/message.ts';
import { behaviourOf, qualifiedName, recordKey, type BmadRecord } from '../../model/record.ts';
import { decodeText } from '../../base/text/text.ts';
import { hunksOf } from '../../base/text/diff.ts';
import { dirname, sep } from 'node:path';
import { sha256, present } from '../../base/values.ts';
import { visibleLines } from '../../base/text/hidden.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Tree } from '../../sources/tree.ts';

interface ChangedRecord {
  kind: string;
  name: string;
  description: string;
  change: ChangedFile['change'];
  /** Description as it was, where it is another now. */
  before?: string;
  /** The fields from which hidden characters were taken out; the text of the file shows them. */
  disguised?: readonly string[];
}

interface ChangedFile {
  path: string;
  change: 'added' | 'changed' | 'removed';
  /** Lines that came and went. */
  plus: number;
  minus: number;
  /** The difference in the form of `diff -u`; nothing for a binary file. */
  diff?: string;
  binary?: string;
}

export interface Review {
  records: ChangedRecord[];
  files: ChangedFile[];
}

/** One state of a source: what it means, and its files. */
export interface ReviewedState {
  catalogue: Catalogue;
  tree: Tree;
}

/** What a model may come to read as text, whatever bytes are in it. */
const TEXT = /\.(?:md|markdown|txt|ya?ml|json|toml|xml|csv|tsv|html?|js|ts|py|sh)$/i;
/** The same by having no ending. */
const isPlain = (path: string): boolean => !path.slice(path.lastIndexOf('/') + 1).includes('.');

export async function reviewChanges(
  before: ReviewedState | undefined,
  after: ReviewedState,
): Promise<Review> {
  const files = await changedFiles(before?.tree, after.tree);
  const touched = files.map(({ path }) => after.tree.place(path));
  return { files, records: changedRecords(before?.catalogue, after.catalogue, touched) };
}

function changedRecords(
  before: Catalogue | undefined,
  after: Catalogue,
  touched: readonly string[],
): ChangedRecord[] {
  const old = new Map(before?.winners.map((record) => [recordKey(record), record]));
  const now = new Map(after.winners.map((record) => [recordKey(record), record]));
  const found: ChangedRecord[] = [];
  for (const key of [...new Set([...old.keys(), ...now.keys()])].sort()) {
    const [was, is] = [old.get(key), now.get(key)];
    const record = is ?? was;
    if (record === undefined) continue;
    if (was !== undefined && is !== undefined && !differs(was, is, touched)) continue;
    found.push({
      kind: record.kind,
      name: qualifiedName(record),
      description: record.description,
      change: changeOf(was, is),
      ...(was === undefined || was.description === record.description ? {} : { before: was.description }),
      ...present({ disguised: is?.disguised }),
    });
  }
  return found;
}

function changeOf(was: unknown, is: unknown): ChangedFile['change'] {
  return was === undefined ? 'added' : is === undefined ? 'removed' : 'changed';
}

/** A skill is its whole folder; anything else is its file. */
function differs(was: BmadRecord, is: BmadRecord, touched: readonly string[]): boolean {
  if (
    was.digest !== is.digest ||
    was.bmadRelativePath !== is.bmadRelativePath ||
    was.description !== is.description
  )
    return true;
  const folder = dirname(is.absolutePath) + sep;
  return behaviourOf(is).isSkill === true && touched.some((place) => place.startsWith(folder));
}

async function changedFiles(before: Tree | undefined, after: Tree): Promise<ChangedFile[]> {
  const [old, now] = [new Set((await before?.files()) ?? []), new Set(await after.files())];
  const changed: ChangedFile[] = [];
  for (const path of [...new Set([...old, ...now])].sort()) {
    const was = old.has(path) ? await before?.read(path) : undefined;
    const is = now.has(path) ? await after.read(path) : undefined;
    if (was !== undefined && is !== undefined && was.equals(is)) continue;
    changed.push(difference(path, was, is));
  }
  return changed;
}

function difference(path: string, was: Buffer | undefined, is: Buffer | undefined): ChangedFile {
  const change = changeOf(was, is);
  const binary = !TEXT.test(path) && !isPlain(path) && [was, is].some((content) => content?.includes(0));
  if (binary) return { path, change, plus: 0, minus: 0, binary: `${kindOf(was)} → ${kindOf(is)}` };
  const hunks = hunksOf(textOf(was), textOf(is), 3);
  const lines = hunks.flatMap(({ oldStart, newStart, lines: changes }) => [
    `@@ -${oldStart} +${newStart} @@`,
    // Nothing in a stranger's file may act on the reviewer's terminal.
    ...changes.map(visibleLines),
  ]);
  const count = (sign: string): number =>
    hunks.flatMap((hunk) => hunk.lines).filter((line) => line.startsWith(sign)).length;
  return { path, change, plus: count('+'), minus: count('-'), diff: lines.join('\n') };
}

/** As it would be served, whatever its encoding. */
const textOf = (content: Buffer | undefined): string =>
  content === undefined ? '' : decodeText(content, true);

function kindOf(content: Buffer | undefined): string {
  if (content === undefined) return 'nothing';
  const digest = sha256(content).slice(0, 12);
  return t`binary, ${content.length} bytes, sha256 ${digest}`;
}
