import { mapLimited } from '../../base/async.ts';
import { type CsvRow, field, type Table, tableOf, textField } from '../../base/parse/parse.ts';
import { t } from '../../base/text/message.ts';
import { detailsOf, firstTag, READS_AT_ONCE } from '../reader.ts';
import { gather, type Understanding } from './gather.ts';
import type { Finding, Install, Shelf } from './install.ts';
import {
  descriptionText,
  fileOf,
  folderOf,
  frontMatter,
  load,
  loadAll,
  type LoadedFile,
  moduleOf,
  nameText,
  readRows,
  stemOf,
  yamlTable,
} from './manifests.ts';

/** A task that lies among the workflows in a folder of its own, which names it: 6.0 moved advanced elicitation there. */
const AMONG_WORKFLOWS = /^[^/]+\/workflows\/(?:[^/]+\/)+workflow\.xml$/i;

/** Tasks and tools: small XML files, or Markdown, directly in `tasks` and `tools` of a module. */
export async function readTasks(install: Install, shelf: Shelf, kind: 'task' | 'tool'): Promise<void> {
  const direct = new RegExp(`^[^/]+/${kind}s/[^/]+\\.(?:xml|md)$`, 'i');
  const isPlace = (path: string): boolean =>
    direct.test(path) || (kind === 'task' && AMONG_WORKFLOWS.test(path) && shelf.at(path) === undefined);
  await gather(install, shelf, {
    ...tasksIn(install, kind),
    onDisk: () =>
      install.files.filter(
        (path) => isPlace(path) && shelf.inModule(path) && !/^readme\b/i.test(fileOf(path)),
      ),
  });
}

/** How a task or a tool is understood. */
export const tasksIn = (install: Install, kind: 'task' | 'tool'): Understanding => ({
  kind,
  manifest: `${kind}-manifest.csv`,
  suffix: /\.(?:xml|md)$/i,
  understand: (file, row) => task(install, file, row),
  formatOf: (path) => (/\.xml$/i.test(path) ? 'xml' : 'document'),
});

function task(
  { problems }: Install,
  file: LoadedFile,
  row: CsvRow | undefined,
): Partial<Finding> | undefined {
  const text = file.text();
  const xml = /\.xml$/i.test(file.path);
  const tag = xml ? (firstTag(text, 'task') ?? firstTag(text, 'tool')) : undefined;
  if (xml && tag === undefined && row === undefined) return undefined;
  const data = xml ? {} : frontMatter(file.path, text, problems);
  const own = (name: string): string | undefined => tag?.get(name) ?? textField(data, name);
  const stem = AMONG_WORKFLOWS.test(file.path) ? fileOf(folderOf(file.path)) : stemOf(file.path);
  const name = nameText(row?.cell('name')) ?? nameText(stem) ?? stem;
  const displayName = nameText(row?.cell('displayName')) ?? nameText(own('name'));
  return {
    name,
    displayName: displayName === name ? undefined : displayName,
    description: descriptionText(row?.cell('description')) ?? descriptionText(own('description')),
    aliases: [displayName, nameText(row?.cell('canonicalId')), stem],
    details: detailsOf((key) => row?.cell(key), own),
  };
}

/** Teams, and the templates and checklists in the folders of workflows. No manifest lists any of them. */
export async function readSupporting(install: Install, shelf: Shelf): Promise<void> {
  const paths = install.files.filter(
    (path) => kindOf(path) !== undefined && shelf.inModule(path) && shelf.at(path) === undefined,
  );
  for (const file of await loadAll(install.source, paths, install.problems))
    shelf.addRenamed(supporting(install, file));
}

type Kind = 'team' | 'template' | 'checklist';

function kindOf(path: string): Kind | undefined {
  if (/^[^/]+\/teams\/[^/]+\.(?:ya?ml|csv)$/i.test(path)) return 'team';
  const file = fileOf(path);
  // Steps of a workflow may be about a template.
  if (/^step-/i.test(file)) return undefined;
  if (/template/i.test(file) && /\.(?:md|ya?ml)$/i.test(file)) return 'template';
  return /checklist/i.test(file) && /\.md$/i.test(file) ? 'checklist' : undefined;
}

/** What a file of these kinds is by its place, and a team by what it says. */
export function supporting(install: Install, file: LoadedFile): Finding {
  const kind = kindOf(file.path) ?? 'template';
  const bundle = kind === 'team' ? bundleOf(install, file) : {};
  const title = nameText(field(bundle, 'name'));
  return {
    kind,
    moduleName: moduleOf(file.path),
    name: kind === 'team' ? stemOf(file.path) : supportName(file.path),
    path: file.path,
    format: 'document',
    digest: file.digest,
    listed: false,
    title,
    icon: nameText(field(bundle, 'icon')),
    description: descriptionText(field(bundle, 'description')),
    aliases: [title],
  };
}

function bundleOf({ problems }: Install, file: LoadedFile): Table {
  if (!/\.ya?ml$/i.test(file.path)) return {};
  return tableOf(field(yamlTable(file.path, file.text(), problems), 'bundle'));
}

/** Folders that say what is in them and not what it is for. */
const GENERIC = new Set(['templates', 'template', 'checklists', 'data', 'assets', 'resources', 'workflows']);

/** `template.md` is the template of its folder: `product-brief-template`. */
function supportName(path: string): string {
  const stem = stemOf(path);
  if (!/^(?:template|checklist)$/i.test(stem)) return stem;
  const folder = path
    .split('/')
    .slice(1, -1)
    .findLast((name) => !GENERIC.has(name));
  return folder === undefined ? stem : `${folder}-${stem}`;
}

interface Fragment {
  id: string;
  row: CsvRow;
  path: string;
  index: string;
}

/**
 * Fragments of knowledge, as the index files beside them list them. A module may carry the same fragments in each of
 * its skills; a fragment with the same id and the same content counts once.
 */
export async function readKnowledge(install: Install, shelf: Shelf): Promise<void> {
  const indexes = [...install.files, ...install.skillFiles]
    .filter((path) => /-index\.csv$/i.test(fileOf(path)) && !isUninstalled(install, path))
    .sort();
  const fragments: Fragment[] = [];
  for (const index of indexes) fragments.push(...(await fragmentsOf(install, index)));
  const files = await mapLimited(fragments, READS_AT_ONCE, ({ path }) =>
    install.known.has(path)
      ? load(install.source, path, install.problems)
      : Promise.resolve('missing' as const),
  );
  const seen = new Set<string>();
  const gone: Finding[] = [];
  for (const [index, fragment] of fragments.entries()) {
    const file = files[index];
    if (file === undefined) continue;
    if (file === 'missing') {
      gone.push(finding(fragment, undefined));
      continue;
    }
    const same = `${fragment.id} ${file.digest}`;
    if (!seen.has(same)) shelf.addRenamed(finding(fragment, file.digest));
    seen.add(same);
  }
  for (const missing of gone) shelf.add(missing);
}

/** A module as its package ships it is read whole by the readers of skills. */
function isUninstalled({ known }: Install, path: string): boolean {
  const module = path.slice(0, path.indexOf('/'));
  return known.has(`${module}/module.yaml`) && !known.has(`${module}/config.yaml`);
}

async function fragmentsOf(install: Install, index: string): Promise<Fragment[]> {
  const found: Fragment[] = [];
  for (const row of await readRows(install, index)) {
    const id = nameText(row.cell('id'));
    const file = row.cell('fragment_file').trim().replaceAll('\\', '/');
    if (id === undefined || file === '') continue;
    if (/^(?:\/|[A-Za-z]:)|\0/.test(file) || file.split('/').includes('..')) {
      install.problems.push({ file: index, message: t`the fragment of "${id}" is outside its folder` });
      continue;
    }
    found.push({ id, row, index, path: `${folderOf(index)}/${file.replace(/^(?:\.\/)+/, '')}` });
  }
  return found;
}

function finding({ id, row, path }: Fragment, digest: string | undefined): Finding {
  const tags = nameText(row.cell('tags'));
  const description = descriptionText(row.cell('description')) ?? '';
  return {
    kind: 'knowledge',
    moduleName: moduleOf(path),
    name: id,
    path,
    format: 'document',
    digest,
    listed: true,
    title: nameText(row.cell('name')),
    description: tags === undefined ? description : `${description} [${tags}]`.trim(),
  };
}
