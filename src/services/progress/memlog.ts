import { t } from '../../base/text/message.ts';
import { isAbsolute, join, posix, relative, sep } from 'node:path';
import { BmadError, quoted } from '../../base/errors.ts';
import { unlessMissing } from '../../base/expected.ts';
import { isFileInside, readInside } from '../../base/files/files.ts';
import { withoutEnd, withoutStart } from '../../base/text/ends.ts';
import { utf8Text } from '../../kit/utf8.ts';
import { diffOf, timestamp, whileLocked, writeTogether, type Writing } from './clerk.ts';

const MEMLOG = '.memlog.md';
const MAX_BYTES = 4 * 1024 * 1024;

export interface MemlogEntry {
  workspace: string;
  text: string | undefined;
  type: string | undefined;
  by: string | undefined;
  fields: readonly (readonly [string, string])[];
  now: Date;
}

export interface MemlogWritten {
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
    const bytes = await readInside(root, file, MAX_BYTES).catch(unlessMissing);
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
  const plain = workspace
    .trim()
    .replaceAll('\\', '/')
    .replace(/^\{project-root\}\/?/, '');
  const inside = isAbsolute(plain) ? relative(root, plain).split(sep).join('/') : plain;
  const named = posix.normalize(inside === '' ? '.' : inside).replace(/\/$/, '');
  const folder = posix.basename(named) === MEMLOG ? posix.dirname(named) : named;
  const parts = folder.split('/');
  const [top = ''] = parts;
  const installs = ['_config/manifest.yaml', '_cfg/manifest.yaml'];
  const isForeign =
    isAbsolute(folder) ||
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
