import { posix, join } from 'node:path';
import { unlessShort } from '../expected.ts';
import { isNamed } from '../files/file-stamps.ts';
import { readInside } from '../files/files.ts';
import { IGNORE_FILES } from '../files/listed-files.ts';
import { grouped } from '../grouped.ts';
import { ignoreRules } from '../text/ignore-rules.ts';
import { gitFiles, type GitQuestion } from './project-git.ts';

const RULES_BYTES = 256 * 1024;

/** Hidden files and what is in hidden folders: not for others to see, where git does not say what is. */
export function isHidden(path: string): boolean {
  return /(?:^|\/)\./.test(path);
}

/**
 * Which of some files of a project may be shown to others, and so to models: those that git tracks or would track. Where it
 * cannot be asked, and in a folder that it leaves out as a whole, those that are neither hidden nor named in an ignore file;
 * and always what is in some folders, such as those of BMAD. `paths` are real, from the root and with slashes.
 */
export async function filesToShow(
  root: string,
  paths: readonly string[],
  folders: readonly string[],
  asked: GitQuestion,
): Promise<Set<string>> {
  const isInside = (path: string): boolean => folders.some((folder) => path.startsWith(`${folder}/`));
  const shown = new Set(paths.filter(isInside));
  const rest = paths.filter((path) => !shown.has(path));
  for (const [top, files] of grouped(rest, (path) => repositoryOf(root, path))) {
    const fromTop = files.map((path) => posix.relative(top, path));
    const place = join(root, top);
    const listed = await gitFiles(place, asked, fromTop);
    // An ignored folder of a larger repository has no files for git; but someone has made it their project.
    const isAsked =
      listed !== undefined && (listed.length > 0 || ((await gitFiles(place, asked)) ?? []).length > 0);
    for (const path of isAsked ? listed : await unignored(place, fromTop)) shown.add(posix.join(top, path));
  }
  return shown;
}

/** The nearest folder above a file that is a repository of its own, such as a submodule; else the project. */
function repositoryOf(root: string, path: string): string {
  for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder))
    if (isNamed(join(root, folder, '.git'))) return folder;
  return '';
}

async function unignored(root: string, paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) if (!isHidden(path) && !(await isIgnored(root, path))) found.push(path);
  return found;
}

/** Whether ignore files on the way to a file leave it out, or a folder it is in; the nearest has the last word. */
async function isIgnored(root: string, path: string): Promise<boolean> {
  const parts = path.split('/');
  const verdicts = parts.map((): boolean | undefined => undefined);
  for (const depth of parts.keys()) {
    const folder = parts.slice(0, depth).join('/');
    for (const name of IGNORE_FILES) {
      const text = await readInside(root, posix.join(folder, name), RULES_BYTES).catch(unlessShort(''));
      const rules = ignoreRules(text.toString());
      for (let end = depth; end < parts.length; end += 1)
        verdicts[end] =
          rules.verdict(parts.slice(depth, end + 1).join('/'), end + 1 < parts.length) ?? verdicts[end];
    }
  }
  return verdicts.includes(true);
}
