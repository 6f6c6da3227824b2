import { field, tableOf, type Table } from '../../base/parse/parse.ts';
import type { Install } from './install.ts';
import { moduleOf } from './manifests.ts';
import { descriptionText, fileOf, loadAll, nameText, stemOf, yamlTable, type LoadedFile } from './reading.ts';
import type { Finding, Shelf } from './shelf.ts';

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
