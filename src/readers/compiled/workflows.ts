import { t } from '../../base/text/message.ts';
import { type CsvRow, field, textField } from '../../base/parse/parse.ts';
import { detailsOf } from '../reader.ts';
import { gather, kitFiles, type Understanding } from './gather.ts';
import type { Finding, Install, Shelf } from './install.ts';
import { instructionsBeside } from '../../model/record.ts';
import {
  descriptionText,
  fileOf,
  folderOf,
  frontMatter,
  insideModule,
  type LoadedFile,
  moduleOf,
  nameText,
  stemOf,
  yamlTable,
} from './manifests.ts';

/** `workflow.yaml`, `workflow.md`, and `workflow-edit-prd.md` where one folder holds several. */
const MAIN_FILE = /^workflow(?:\.ya?ml|(?:-.+)?\.md)$/i;

/** Folders with samples, templates and documentation, which look like workflows and are none. */
const NOT_HERE = new Set(['docs', 'reference', 'templates', 'data', 'workflows-legacy']);

export async function readWorkflows(install: Install, shelf: Shelf): Promise<void> {
  const folders = workflowFolders(install);
  const ofKit = new Set(await kitFiles(install, 'workflows'));
  await gather(install, shelf, {
    ...workflowsIn(install, ofKit, folders),
    onDisk: (listed) => [...unlisted(install, listed), ...ofKit],
  });
}

/** How a workflow is understood; `folders` has those on the way to it. */
export const workflowsIn = (
  install: Install,
  ofKit: ReadonlySet<string>,
  folders: ReadonlyMap<string, number>,
): Understanding => ({
  kind: 'workflow',
  manifest: 'workflow-manifest.csv',
  suffix: /\.(?:ya?ml|md|xml)$/i,
  understand: (file, row) =>
    ofKit.has(file.path) && row === undefined
      ? kitWorkflow(install, file)
      : workflow(install, file, row, folders),
  formatOf: (path) => (isMarkdown(path) ? 'workflow-md' : /\.xml$/i.test(path) ? 'xml' : 'workflow-yaml'),
});

/** The workflows of each folder by their paths, listed or not: they tell groups of workflows from workflows. */
export function workflowFolders({ files }: Pick<Install, 'files'>): Map<string, number> {
  const folders = new Map<string, number>();
  for (const path of files) {
    if (!MAIN_FILE.test(fileOf(path))) continue;
    folders.set(folderOf(path), (folders.get(folderOf(path)) ?? 0) + 1);
  }
  return folders;
}

/**
 * A folder with a listed workflow is covered: everything else in it is a part or another form of it. If no manifest
 * says which of two forms is meant, YAML comes first, because the manifests that have both name that one.
 */
function unlisted({ files }: Install, listed: ReadonlySet<string>): string[] {
  const covered = new Set([...listed].map(folderOf));
  return files
    .filter((path) => {
      if (!MAIN_FILE.test(fileOf(path)) || covered.has(folderOf(path))) return false;
      const [, second, ...below] = path.split('/').slice(0, -1);
      return (
        second === 'workflows' &&
        !/-template$/i.test(stemOf(path)) &&
        !below.some((folder) => NOT_HERE.has(folder) || folder.endsWith('-template'))
      );
    })
    .sort((a, b) => Number(isMarkdown(a)) - Number(isMarkdown(b)));
}

function isMarkdown(path: string): boolean {
  return /\.md$/i.test(path);
}

function workflow(
  install: Install,
  file: LoadedFile,
  row: CsvRow | undefined,
  folders: ReadonlyMap<string, number>,
): Partial<Finding> | undefined {
  const listedName = nameText(row?.cell('name'));
  const listedDescription = descriptionText(row?.cell('description'));
  // The line of the manifest says it all in most installs; then the file itself need not be understood.
  const own =
    listedName !== undefined && listedDescription !== undefined
      ? undefined
      : ownWords(install, file, row !== undefined);
  if (row === undefined && own?.name === undefined) return undefined;
  const folder = folderOf(file.path);
  const alone = folders.get(folder) === 1 && fileOf(folder) !== 'workflows';
  const folderName = fileOf(folder);
  return {
    name: listedName ?? own?.name ?? (alone ? folderName : stemOf(file.path)),
    description: listedDescription ?? own?.description,
    phase: phaseOf(file.path, folders),
    aliases: [alone ? folderName : undefined, nameText(row?.cell('canonicalId'))],
    details: detailsOf(
      (key) => row?.cell(key),
      (key) => (HEAD_KEYS.has(key) ? headValue(file.text(), key) : undefined),
    ),
  };
}

/** A workflow of the custom kit is one file: it has a table at the top, or says under its title what it is for. */
function kitWorkflow({ problems }: Install, file: LoadedFile): Partial<Finding> | undefined {
  const text = file.text();
  if (text.trim() === '') {
    problems.push({ file: file.path, message: t`the file is empty` });
    return undefined;
  }
  const data = frontMatter(file.path, text, problems);
  const title = nameText(/^#[ \t]+(\S.{0,200})$/m.exec(text)?.[1]);
  return {
    format: 'kit-workflow',
    name: nameText(textField(data, 'name')) ?? stemOf(file.path),
    description: descriptionText(textField(data, 'description')) ?? title,
    aliases: [stemOf(file.path)],
  };
}

/** What no manifest says of most workflows. */
const HEAD_KEYS = new Set(['author', 'standalone']);
const HEAD_LENGTH = 4_000;

/** A value on the first lines of YAML or of front matter, without the cost of parsing hundreds of files. */
function headValue(text: string, key: string): string | undefined {
  const line = text
    .slice(0, HEAD_LENGTH)
    .split('\n')
    .find((each) => each.startsWith(`${key}:`))
    ?.slice(key.length + 1)
    .trim();
  const value = /^(["'])(.*)\1/.exec(line ?? '')?.[2] ?? line?.split(' #', 1)[0]?.trimEnd();
  return value === undefined || /^[{[|>&*]/.test(value) ? undefined : nameText(value);
}

/** What a workflow says about itself; nothing when it does not say what one has to, which is told. */
function ownWords(install: Install, file: LoadedFile, isListed: boolean) {
  const { problems, known } = install;
  const markdown = isMarkdown(file.path);
  const noticed = problems.length;
  const data = markdown
    ? frontMatter(file.path, file.text(), problems)
    : yamlTable(file.path, file.text(), problems);
  // What cannot be read has just been told.
  if (problems.length > noticed) return undefined;
  const name = nameText(textField(data, 'name'));
  const description = descriptionText(textField(data, 'description'));
  // Templates of workflows have placeholders for names.
  if (/[{}]/.test(name ?? '') || isLeftOver(install, name ?? fileOf(folderOf(file.path)))) return undefined;
  const complete = markdown
    ? description !== undefined
    : ['instructions', 'steps'].some((key) => field(data, key) !== undefined) ||
      instructionsBeside({ bmadRelativePath: file.path }).some((path) => known.has(path));
  if (name !== undefined && complete) return { name, description };
  // Guides are called `workflow-guide.md` too.
  if (isListed || (name === undefined && !/^workflow\.\w+$/i.test(fileOf(file.path)))) return undefined;
  const message =
    name === undefined
      ? t`left out: it has no name`
      : markdown
        ? t`left out: it has no description`
        : t`left out: it names no instructions, and there is no instructions.md or instructions.xml beside it`;
  problems.push({ file: file.path, message, mild: true });
  return undefined;
}

/** 6.2.0 turned workflows into skills and left a file behind; the skill `bmad-validate-prd` is `validate-prd` now. */
function isLeftOver({ skillFolders }: Install, name: string): boolean {
  return [...skillFolders].some((folder) => fileOf(folder) === `bmad-${name}`);
}

/** The first folder below `workflows`, if it groups workflows and is not one itself. */
function phaseOf(path: string, folders: ReadonlyMap<string, number>): string | undefined {
  const [first, group, ...below] = insideModule(path).split('/').slice(0, -1);
  if (first !== 'workflows' || group === undefined || below.length === 0) return undefined;
  return folders.has(`${moduleOf(path)}/workflows/${group}`) ? undefined : nameText(group);
}
