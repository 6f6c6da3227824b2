import { mapLimited } from '../../base/async.ts';
import { fromProject, isRootName } from '../../base/files/paths.ts';
import { noted, ours, quoted } from '../../base/errors.ts';
import {
  type CsvRow,
  csvRows,
  csvRowsWith,
  parseFrontMatter,
  parseYaml,
  type Table,
} from '../../base/parse/parse.ts';
import { t } from '../../base/text/message.ts';
import { cut, decodeEntities, decodeText } from '../../base/text/text.ts';
import { sha256 } from '../../base/values.ts';
import type { Problem } from '../../model/record.ts';
import type { Source } from '../../sources/tree.ts';
import { parsedTable, readable, readRows as rowsIn, READS_AT_ONCE, readTable } from '../reader.ts';

/** One BMAD root on disk: which file is where, before any of it is interpreted. */
export interface Install {
  source: Source;
  problems: Problem[];
  /** `_config`, or `_cfg` in the early alphas; none in a folder without manifests. */
  configs: readonly string[];
  /** The version of the installer that ran last. */
  version: string | undefined;
  /** The modules the installer lists, with their versions where it knows them. */
  listedModules: ReadonlyMap<string, string | undefined>;
  topLevel: ReadonlySet<string>;
  moduleFolders: readonly string[];
  /** Every file of the modules that is not in a skill, sorted. */
  files: readonly string[];
  /** Files in folders with a SKILL.md and below, which belong to the readers of skills. */
  skillFiles: readonly string[];
  skillFolders: ReadonlySet<string>;
  /** All of these files, to look one up. */
  known: ReadonlySet<string>;
  /** Linked folders, which are not walked; a manifest may still name what is in them. */
  links: readonly string[];
}

/** A line of a manifest whose path leads into this install. */
export interface ListedFile {
  row: CsvRow;
  path: string;
  moduleName: string;
}

/** A manifest with thousands of bad lines is one problem, not thousands. */
const PROBLEMS_SHOWN = 20;

/**
 * What a manifest lists, in its order, each path once. Lines that point outside are problems; those that name a skill,
 * or a file of another kind (`tech-writer.agent.yaml`, a folder), belong to other readers.
 */
export async function listedFiles(install: Install, manifest: string, suffix: RegExp): Promise<ListedFile[]> {
  const listed = new Map<string, ListedFile>();
  for (const config of install.configs) {
    const file = `${config}/${manifest}`;
    let refused = 0;
    for (const row of await readRows(install, file)) {
      const written = row.cell('path').trim();
      if (written === '') continue;
      const path = treePath(install, written);
      if (path === undefined) {
        refused += 1;
        if (refused <= PROBLEMS_SHOWN)
          install.problems.push({
            file,
            message: t`the path ${quoted(written)} points outside this install`,
          });
        continue;
      }
      if (!suffix.test(path) || listed.has(path) || isOfSkill(install, path)) continue;
      listed.set(path, { row, path, moduleName: moduleNamed(row.cell('module')) ?? moduleOf(path) });
    }
  }
  return [...listed.values()];
}

/** Other ways to write a path than as it is. */
const OTHERWISE = ['\\', '//', '/./'];

/** The line of a manifest about one path: the first, as in `listedFiles`. */
export async function rowOf(install: Install, manifest: string, path: string): Promise<CsvRow | undefined> {
  for (const config of install.configs) {
    const file = `${config}/${manifest}`;
    const text = (await readable(install.source.tree, file, install.problems)) ?? '';
    const isPlain = OTHERWISE.every((each) => !text.includes(each));
    const rows = isPlain ? csvRowsWith(file, text, path) : csvRows(file, text);
    const row = rows.find(({ cell }) => treePath(install, cell('path').trim()) === path);
    if (row !== undefined) return row;
  }
  return undefined;
}

export const readRows = ({ source, problems }: Install, file: string): Promise<CsvRow[]> =>
  rowsIn(source.tree, file, problems);

/** A path as a manifest writes it, from the root of the tree; nothing when it leads outside or into another root. */
export function treePath(install: Install, written: string): string | undefined {
  const path = fromProject(written.replaceAll('\\', '/'));
  if (/^(?:\/|[A-Za-z]:)|[\0]/.test(path) || path.length > 1_000) return undefined;
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) return undefined;
  const [first = '', second = ''] = segments;
  const { topLevel, source } = install;
  const own = source.tree.root.split(/[\\/]/).findLast((name) => name !== '');
  // A module may have the same name as the root; then the next segment tells which of the two is meant.
  if (isRootName(first, own) && (!topLevel.has(first) || topLevel.has(second)))
    return segments.slice(1).join('/');
  return topLevel.has(first) ? segments.join('/') : undefined;
}

/** The module a file belongs to by its place: the top-level folder, or `custom` for the custom kit. */
export function moduleOf(path: string): string {
  const [first = '', second] = path.split('/');
  return /^_(?:config|cfg)$/.test(first) && second === 'custom' ? 'custom' : first;
}

/** The path from the module's folder. */
export function insideModule(path: string): string {
  const depth = /^_(?:config|cfg)\/custom\//.test(path) ? 2 : 1;
  return path.split('/').slice(depth).join('/');
}

function moduleNamed(cell: string): string | undefined {
  const name = cell.trim();
  return /^[A-Za-z\d][\w.-]{0,63}$/.test(name) ? name : undefined;
}

/** Whether a path is a skill or a file of one. */
export function isOfSkill({ skillFolders }: Install, path: string): boolean {
  return path.endsWith('/SKILL.md') || skillFolders.has(path) || skillFolders.has(folderOf(path));
}

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

export const readYaml = ({ tree }: Source, file: string, problems: Problem[]): Promise<Table> =>
  readTable(tree, file, problems, parseYaml);

export function yamlTable(file: string, text: string, problems: Problem[]): Table {
  return parsedTable(file, problems, () => parseYaml(file, text));
}

/** The table at the top of a Markdown file. The custom kit's files have a comment above it. */
export function frontMatter(file: string, text: string, problems: Problem[]): Table {
  return parsedTable(file, problems, () => parseFrontMatter(file, withoutComment(text)).data);
}

function withoutComment(text: string): string {
  const start = text.startsWith('\uFEFF') ? 1 : 0;
  const head = text.slice(start).trimStart();
  if (!head.startsWith('<!--')) return text;
  const end = head.indexOf('-->');
  return end === -1 ? text : head.slice(end + 3).trimStart();
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
