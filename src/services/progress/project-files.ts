import { t } from '../../base/text/message.ts';
import { join } from 'node:path';
import { conflictReason, conflictsIn } from '../../base/text/conflicts.ts';
import { BmadError } from '../../base/errors.ts';
import { changeMark, timeIn } from '../../base/files/file-stamps.ts';
import { modifiedAt } from '../../base/files/file-state.ts';
import { whyUnread } from '../../base/files/read-failures.ts';
import { unlessShort } from '../../base/expected.ts';
import { listInside, readInside, type FolderEntry } from '../../base/files/files.ts';
import { utf8Text } from '../../kit/utf8.ts';
import type { Trouble } from './model.ts';

/** No ledger or document of a project comes near it. */
const MAX_BYTES = 4 * 1024 * 1024;
/** How many entries of folders are looked at; `docs` may be anything. */
const MAX_ENTRIES = 4_000;
const SKIPPED = /^(?:node_modules|\..*)$/;

/** What reading a file gave. */
export type FileText = { text: string } | { trouble: Trouble };

/** The files of one project, read once each. Nothing outside its root is read; what cannot be is told. */
export class ProjectFiles {
  readonly root: string;
  readonly troubles: Trouble[] = [];
  /** What was looked at, each with what tells whether it has changed, as it was before it was read. */
  readonly looked = new Map<string, string | undefined>();
  /** When the newest of it was changed, in milliseconds. */
  newest = 0;
  readonly #texts = new Map<string, Promise<FileText | undefined>>();
  #entries = 0;

  constructor(root: string) {
    this.root = root;
  }

  /** The text of a file; nothing when there is none. */
  read(path: string): Promise<FileText | undefined> {
    const known = this.#texts.get(path);
    if (known !== undefined) return known;
    this.#look(path);
    const reading = this.#read(path);
    this.#texts.set(path, reading);
    return reading;
  }

  #look(path: string): void {
    if (this.looked.has(path)) return;
    const mark = changeMark(join(this.root, path));
    this.looked.set(path, mark);
    this.newest = Math.max(this.newest, mark === undefined ? 0 : timeIn(mark));
  }

  /** Whether there is something of that name. */
  has(path: string): boolean {
    this.#look(path);
    return this.looked.get(path) !== undefined;
  }

  /** What is in the project's own folder. */
  atTop(): Promise<FolderEntry[]> {
    this.#look('');
    return listInside(this.root, '').catch(unlessShort([]));
  }

  async #read(path: string): Promise<FileText | undefined> {
    try {
      const text = utf8Text(await readInside(this.root, path, MAX_BYTES));
      if (text === undefined) return this.#tell({ file: path, message: t`it is not UTF-8 text` });
      const conflicts = conflictsIn(text);
      if (conflicts !== undefined) this.#tell({ file: path, message: conflictReason(conflicts) });
      return { text };
    } catch (error) {
      if (!(error instanceof BmadError)) throw error;
      if (error.code === 'not_found' || error.reason === 'folder') return undefined;
      return this.#tell({ file: path, message: reasonOf(error) });
    }
  }

  #tell(trouble: Trouble): FileText {
    this.troubles.push(trouble);
    return { trouble };
  }

  /** When a file that was read was last changed, in milliseconds. */
  changedAt(path: string): Promise<number | undefined> {
    return modifiedAt(join(this.root, path));
  }

  /** Files below a folder, by path from the project, sorted; to the given depth, hidden and foreign folders left out. */
  async below(folder: string, depth: number): Promise<string[]> {
    if (this.#entries >= MAX_ENTRIES) return [];
    this.#look(folder);
    const entries = await listInside(this.root, folder).catch((error: unknown) => {
      if (error instanceof BmadError && error.code !== 'not_found')
        this.troubles.push({ file: folder, message: reasonOf(error) });
      return [];
    });
    this.#entries += entries.length;
    if (this.#entries >= MAX_ENTRIES)
      this.troubles.push({
        file: folder,
        message: t`more than ${MAX_ENTRIES} files; the rest were skipped`,
      });
    const found: string[] = [];
    for (const { name, kind, link } of entries) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (kind === 'file') found.push(path);
      else if (depth > 1 && link === undefined && !SKIPPED.test(name))
        found.push(...(await this.below(path, depth - 1)));
    }
    return found;
  }
}

function reasonOf({ message, code, reason, cause }: BmadError): string {
  if (reason === 'outside') return t`it is a link that points outside the project`;
  if (code === 'too_large') return t`it is larger than ${MAX_BYTES} bytes`;
  return cause === undefined ? message : whyUnread(cause);
}
