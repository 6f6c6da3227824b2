import { basename, posix } from 'node:path';
import { contentUri, fromProject, otherEndings } from '../../base/files/paths.ts';
import { withoutEnd } from '../../base/text/text.ts';
import type { BmadRecord } from '../../model/record.ts';

/** A way in which a text names files, and the content folder that is meant: `{project-root}/bmad/x` is `bmad://x`. */
export interface PathRule {
  /** As the text writes it, with a slash at the end: `{project-root}/bmad/`. */
  written: string;
  /** The folder in the content, with a slash at the end unless it is the top. */
  folder: string;
}

/** How BMAD's folder is called in texts, whatever it is called on disk. */
const ROOT = /^(?:\{bmad_folder\}|\{_bmad\}|\{root\}|[._]?bmad(?:-[a-z\d-]+)?)$/;

const NAMED = /(?<![\w./{}-])(\{project[-_]root\}\/)?(\{\w+\}|[\w.-]+)\/([\w.-]+(?:\/[\w.-]+)*)/g;

/** Folders of these names hold what workflows write, and sources that no install has. */
const NOT_CONTENT = /-output$|^bmad-method$|-src$/;

/**
 * What a text itself calls BMAD's folder, and where that leads. A folder in the cache of git sources, in the home folder
 * or in BMAD_ROOT has another name than the one the text was written for, so only the text can tell.
 */
export function rulesOf(text: string, { origin }: BmadRecord, has: (path: string) => boolean): PathRule[] {
  const own = basename(origin.root);
  const found = new Map<string, { name: string; paths: Set<string> }>();
  for (const [, before = '', name = '', path = ''] of text.matchAll(NAMED)) {
    if ((!ROOT.test(name) && name !== own) || NOT_CONTENT.test(name)) continue;
    const written = `${before}${name}/`;
    const entry = found.get(written) ?? { name, paths: new Set() };
    entry.paths.add(withoutEnd(path, '.'));
    found.set(written, entry);
  }
  return [...found].flatMap(([written, { name, paths }]) => {
    const hits = (folder: string): number => [...paths].filter((path) => has(folder + path)).length;
    // Version 4 itself leaves out the dot of `.bmad-core` here and there.
    const dotted = `.${name}/`;
    const [folder, count] = ['', `${name}/`, dotted]
      .map((each) => [each, hits(each)] as const)
      .reduce((best, each) => (each[1] > best[1] ? each : best));
    if (count > 0) return [{ written, folder }];
    // It may have the ending wrong besides.
    const isDotted = [...paths].some((path) => otherEndings(dotted + path, ENDINGS).some(has));
    return isDotted ? [{ written, folder: dotted }] : [];
  });
}

/** In the forms of the files that a text leads to: with and without the project, and version 4's core beside a pack. */
export function inAllForms(rules: readonly PathRule[], has: (path: string) => boolean): PathRule[] {
  const all = new Map(rules.map((rule) => [rule.written, rule]));
  // What a pack of version 4 uses may name the core.
  if (rules.some(({ written }) => written.startsWith('.bmad-')) && has('.bmad-core/core-config.yaml'))
    all.set('.bmad-core/', { written: '.bmad-core/', folder: '.bmad-core/' });
  for (const { written, folder } of rules) {
    const bare = fromProject(written);
    if (!/^(?:_?bmad|\{bmad_folder\})\/$/.test(bare)) continue;
    for (const form of [`{project-root}/${bare}`, bare])
      if (!all.has(form)) all.set(form, { written: form, folder });
  }
  return [...all.values()];
}

/** What BMAD's folder is called in the texts of a root that do not name it themselves. */
export function usualRule(record: BmadRecord, has: (path: string) => boolean): PathRule {
  const { origin, bmadRelativePath } = record;
  const own = basename(origin.root);
  // Version 4 is one folder beside its packs, and each is a folder of the content.
  const [top = ''] = bmadRelativePath.split('/', 1);
  if (top.startsWith('.bmad-')) return { written: `${top}/`, folder: `${top}/` };
  const name = origin.kind === 'project' && own !== '' ? own : has('_cfg/manifest.yaml') ? 'bmad' : '_bmad';
  return { written: `{project-root}/${name}/`, folder: '' };
}

/** The files that a text names and that are there, by their content paths, in the order in which it names them. */
export function namedFiles(
  text: string,
  rules: readonly PathRule[],
  has: (path: string) => boolean,
): string[] {
  const found = pathsIn(text, rules).map((path) => withoutEnd(path, '.{}-'));
  return [...new Set(found)].filter(has);
}

/** What follows in each word of a text that a rule is about, in the content. */
function pathsIn(text: string, rules: readonly PathRule[]): string[] {
  return [...text.matchAll(/[\w./{}-]+/g)].flatMap(([word]) => {
    const rule = rules.find(({ written }) => word.startsWith(written));
    return rule === undefined ? [] : [rule.folder + word.slice(rule.written.length)];
  });
}

/** What is written by an install, a user or an agent may not be there yet. */
const WRITTEN = /(?:^|\/)(?:_memory|custom|_config|_cfg|output)\/|(?:^|\/)config(?:\.user)?\.\w+$/;
const EXAMPLE = /(?:^|\/)(?:[A-Z_]{3,}|path|x)\//;
const ENDINGS = ['.md', '.yaml', '.yml', '.xml', '.csv'];
const MISSING_SHOWN = 4;

/** The files of BMAD's own folder that a text names and that are not there; some are, with another ending. */
export function missingNames(
  text: string,
  rules: readonly PathRule[],
  has: (path: string) => boolean,
): { path: string; instead: string | undefined }[] {
  const named = pathsIn(text, inAllForms(rules, has)).map((path) => withoutEnd(path, '.-'));
  return [...new Set(named)]
    .filter(
      (path) =>
        // What has a placeholder in it is no file yet.
        /^[^{}]+\.(?:md|xml|ya?ml|csv)$/.test(path) &&
        !WRITTEN.test(path) &&
        !EXAMPLE.test(path) &&
        !has(path),
    )
    .map((path) => ({ path, instead: otherEndings(path, ENDINGS).find(has) }));
}

/** In a line what a text names and nobody can read, so that it is not looked for. */
export function missingNote(missing: ReturnType<typeof missingNames>): string | undefined {
  if (missing.length === 0) return undefined;
  const shown = missing
    .slice(0, MISSING_SHOWN)
    .map(
      ({ path, instead }) =>
        `\`${path}\`${instead === undefined ? '' : ` (read \`${contentUri(instead)}\`)`}`,
    );
  const more = missing.length > MISSING_SHOWN ? ` and ${missing.length - MISSING_SHOWN} more` : '';
  const advice = missing.every(({ instead }) => instead !== undefined)
    ? ''
    : ' Do not look for it; do yourself what its name describes.';
  return `Named, but not in this install: ${shown.join(', ')}${more}.${advice}`;
}

/** Whether a text names files beside itself: `./steps/step-01.md`, `data/methods.csv`, `../templates/gate.yaml`. */
export function namesBeside(text: string, folder: string, has: (path: string) => boolean): boolean {
  for (const [, path = ''] of text.matchAll(/(?<![\w./{}-])((?:\.{1,2}\/)*(?:[\w-]+\/)*[\w.-]+\.\w{2,4})\b/g))
    if (has(posix.join(folder, path))) return true;
  return false;
}
