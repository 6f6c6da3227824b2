import { orElse } from '../../base/errors.ts';
import { sha256 } from '../../base/values.ts';
import { readRows, READS_AT_ONCE, recordOf } from '../reading.ts';
import { dirname } from 'node:path/posix';
import { mapLimited } from '../../base/async.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import type { Source } from '../../sources/tree.ts';

/**
 * The knowledge fragments that skills bring along: an `*-index.csv` names them. Several skills of a module carry copies
 * of the same ones, so each is taken once, by its content.
 */
export async function readKnowledge(
  source: Source,
  places: readonly { folder: string; module: string }[],
  common: Pick<BmadRecord, 'generation'> & { bmadVersion: string | undefined },
  problems: Problem[],
): Promise<BmadRecord[]> {
  const found = new Map<string, BmadRecord>();
  for (const { folder, module } of places) {
    const files = await source.tree.files(folder);
    const known = new Set(files);
    for (const index of files.filter((path) => /-index\.csv$/i.test(path))) {
      const rows = await fragmentRows(source, index, problems);
      const existing = rows.filter(({ path }) => known.has(path));
      const digests = await mapLimited(existing, READS_AT_ONCE, ({ path }) =>
        source.tree.read(path).then(sha256, orElse(undefined)),
      );
      for (const [at, row] of existing.entries()) {
        const digest = digests[at];
        if (digest === undefined || found.has(`${module} ${row.id} ${digest}`)) continue;
        found.set(`${module} ${row.id} ${digest}`, fragment(source, module, row, digest, common));
      }
    }
  }
  return [...found.values()];
}

interface FragmentRow {
  id: string;
  name: string;
  description: string;
  path: string;
}

async function fragmentRows({ tree }: Source, index: string, problems: Problem[]): Promise<FragmentRow[]> {
  return (await readRows(tree, index, problems)).flatMap(({ cell }) => {
    const path = cell('fragment_file').trim();
    if (path === '' || path.split('/').includes('..') || path.startsWith('/')) return [];
    const id = cell('id').trim() || path;
    return [{ id, name: cell('name'), description: cell('description'), path: `${dirname(index)}/${path}` }];
  });
}

function fragment(
  source: Source,
  module: string,
  { id, name, description, path }: FragmentRow,
  digest: string,
  common: { generation: string; bmadVersion: string | undefined },
): BmadRecord {
  return recordOf(source, {
    ...common,
    kind: 'knowledge',
    listed: true,
    moduleName: module,
    name: id,
    displayName: name === '' ? undefined : name,
    description,
    bmadRelativePath: path,
    moduleRelativePath: path,
    format: 'document',
    aliases: [name],
    digest,
  });
}
