import { t } from '../../base/text/message.ts';
import type { CsvRow } from '../../base/parse/parse.ts';
import { mapLimited } from '../../base/async.ts';
import { READS_AT_ONCE } from '../reading.ts';
import type { Install } from './install.ts';
import { moduleOf, readRows } from './manifests.ts';
import { descriptionText, fileOf, folderOf, load, nameText } from './reading.ts';
import type { Finding, Shelf } from './shelf.ts';

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
