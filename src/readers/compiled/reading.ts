import { t } from '../../base/text/message.ts';
import { mapLimited } from '../../base/async.ts';
import { attempt, noted, ours } from '../../base/expected.ts';
import { sha256 } from '../../base/sha256.ts';
import { readable, READS_AT_ONCE } from '../reading.ts';
import { decodeText } from '../../base/text/decode.ts';
import { decodeEntities } from '../../base/text/entities.ts';
import { isTable, tableOf, parseFrontMatter, parseYaml, type Table } from '../../base/parse/parse.ts';
import { cut } from '../../base/text/text.ts';
import type { Problem } from '../../model/record.ts';
import type { Source } from '../../sources/source.ts';

export interface LoadedFile {
  path: string;
  digest: string;
  /** Decoded on demand: of most files only the digest is wanted. */
  text(): string;
}

/** A file with its digest; `missing` when there is none, nothing when it cannot be read, which is a problem. */
export async function load(
  source: Source,
  path: string,
  problems: Problem[],
): Promise<LoadedFile | 'missing' | undefined> {
  const bytes = await source.tree
    .read(path)
    .catch(ours(() => 'missing' as const, 'not_found'))
    .catch(noted(problems, path, undefined));
  if (bytes === undefined || bytes === 'missing') return bytes;
  return { path, digest: sha256(bytes), text: () => decodeText(bytes) };
}

/** Those of the files that can be read. */
export async function loadAll(
  source: Source,
  paths: readonly string[],
  problems: Problem[],
): Promise<LoadedFile[]> {
  const files = await mapLimited(paths, READS_AT_ONCE, (path) => load(source, path, problems));
  return files.filter((file) => file !== undefined && file !== 'missing');
}

export async function readYaml(source: Source, file: string, problems: Problem[]): Promise<Table> {
  const text = await readable(source.tree, file, problems);
  return text === undefined ? {} : yamlTable(file, text, problems);
}

export function yamlTable(file: string, text: string, problems: Problem[]): Table {
  return checkedTable(file, problems, () => parseYaml(file, text));
}

/** The table at the top of a Markdown file. The custom kit's files have a comment above it. */
export function frontMatter(file: string, text: string, problems: Problem[]): Table {
  return checkedTable(file, problems, () => parseFrontMatter(file, withoutComment(text)).data);
}

function withoutComment(text: string): string {
  const start = text.startsWith('\uFEFF') ? 1 : 0;
  const head = text.slice(start).trimStart();
  if (!head.startsWith('<!--')) return text;
  const end = head.indexOf('-->');
  return end === -1 ? text : head.slice(end + 3).trimStart();
}

function checkedTable(file: string, problems: Problem[], parse: () => unknown): Table {
  const value = attempt(parse, noted(problems, file, {}));
  if (!isTable(value) && value !== undefined && value !== null)
    problems.push({ file, message: t`it is not a table of values` });
  return tableOf(value);
}

const NAME_LENGTH = 200;
const DESCRIPTION_LENGTH = 2_000;

export const descriptionText = (value: unknown): string | undefined => nameText(value, DESCRIPTION_LENGTH);

/** A name or title for people: one line, entities decoded; nothing when it is not a text or empty. */
export function nameText(value: unknown, length = NAME_LENGTH): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  // Cut twice: first so that a text of megabytes costs nothing, then because decoding changes the length.
  // Some installers escaped quotation marks twice, so that two are left after reading.
  const line = decodeEntities(cut(value, length * 4))
    .replaceAll('""', '"')
    .replace(/\s+/g, ' ')
    .trim();
  return line === '' ? undefined : cut(line, length);
}

/** `pm` for `bmm/agents/pm.md`. */
export function stemOf(path: string): string {
  const file = fileOf(path);
  return file.slice(0, file.lastIndexOf('.')) || file;
}

export function fileOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
