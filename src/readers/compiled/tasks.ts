import { textField, type CsvRow } from '../../base/parse/parse.ts';
import { detailsOf } from '../details.ts';
import { gather, type Understanding } from './gather.ts';
import type { Install } from './install.ts';
import { firstTag } from './markup.ts';
import {
  descriptionText,
  fileOf,
  folderOf,
  frontMatter,
  nameText,
  stemOf,
  type LoadedFile,
} from './reading.ts';
import type { Finding, Shelf } from './shelf.ts';

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
