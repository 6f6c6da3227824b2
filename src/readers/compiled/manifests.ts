import { t } from '../../base/text/message.ts';
import { csvRows, csvRowsWith, type CsvRow } from '../../base/parse/parse.ts';
import { quoted } from '../../base/errors.ts';
import type { Install } from './install.ts';
import { readable, readRows as rowsIn } from '../reading.ts';
import { folderOf } from './reading.ts';

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

/** The usual names of the root folder, with which manifests begin their paths. */
const ROOT_NAMES = new Set(['_bmad', '.bmad', 'bmad', '{bmad_folder}']);

/** A path as a manifest writes it, from the root of the tree; nothing when it leads outside or into another root. */
export function treePath(install: Install, written: string): string | undefined {
  const path = written.replaceAll('\\', '/').replace(/^\{project-root\}\//, '');
  if (/^(?:\/|[A-Za-z]:)|[\0]/.test(path) || path.length > 1_000) return undefined;
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) return undefined;
  const [first = '', second = ''] = segments;
  const { topLevel, source } = install;
  const root =
    ROOT_NAMES.has(first) || first === source.tree.root.split(/[\\/]/).findLast((name) => name !== '');
  // A module may have the same name as the root; then the next segment tells which of the two is meant.
  if (root && (!topLevel.has(first) || topLevel.has(second))) return segments.slice(1).join('/');
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
