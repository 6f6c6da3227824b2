import { textField, type CsvRow } from '../../base/parse/parse.ts';
import { detailsOf } from '../details.ts';
import { gather } from './gather.ts';
import type { Install } from './install.ts';
import { firstTag } from './markup.ts';
import { descriptionText, fileOf, frontMatter, nameText, stemOf, type LoadedFile } from './reading.ts';
import type { Finding, Shelf } from './shelf.ts';

/** Tasks and tools: small XML files, or Markdown, directly in `tasks` and `tools` of a module. */
export async function readTasks(install: Install, shelf: Shelf, kind: 'task' | 'tool'): Promise<void> {
  const place = new RegExp(`^[^/]+/${kind}s/[^/]+\\.(?:xml|md)$`, 'i');
  await gather(install, shelf, {
    kind,
    manifest: `${kind}-manifest.csv`,
    suffix: /\.(?:xml|md)$/i,
    onDisk: () =>
      install.files.filter(
        (path) => place.test(path) && shelf.inModule(path) && !/^readme\b/i.test(fileOf(path)),
      ),
    understand: (file, row) => task(install, file, row),
    formatOf: (path) => (/\.xml$/i.test(path) ? 'xml' : 'document'),
  });
}

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
  const name = nameText(row?.cell('name')) ?? stemOf(file.path);
  const displayName = nameText(row?.cell('displayName')) ?? nameText(own('name'));
  return {
    name,
    displayName: displayName === name ? undefined : displayName,
    description: descriptionText(row?.cell('description')) ?? descriptionText(own('description')),
    aliases: [displayName, nameText(row?.cell('canonicalId')), stemOf(file.path)],
    details: detailsOf((key) => row?.cell(key), own),
  };
}
