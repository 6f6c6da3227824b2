import { createHash } from 'node:crypto';
import { dirname } from 'node:path/posix';
import { mapLimited } from '../../base/async.ts';
import { BmadError } from '../../base/errors.ts';
import { ParseError, parseCsv } from '../../base/parse/parse.ts';
import { present } from '../../base/present.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import type { Source } from '../../sources/source.ts';

const READS_AT_ONCE = 16;

/** A skill whose resources may hold an index of knowledge. */
export interface KnowledgePlace {
  folder: string;
  module: string;
}

/**
 * The knowledge fragments that skills bring along: an `*-index.csv` names them. Several skills of a module carry copies
 * of the same ones, so each is taken once, by its content.
 */
export async function readKnowledge(
  source: Source,
  places: readonly KnowledgePlace[],
  common: Pick<BmadRecord, 'generation'> & { bmadVersion: string | undefined },
  problems: Problem[],
): Promise<BmadRecord[]> {
  const found = new Map<string, BmadRecord>();
  for (const { folder, module } of places) {
    const files = await source.tree.files(folder);
    for (const index of files.filter((path) => /-index\.csv$/i.test(path))) {
      const rows = await fragmentRows(source, index, problems);
      const existing = rows.filter(({ path }) => files.includes(path));
      const digests = await mapLimited(existing, READS_AT_ONCE, ({ path }) => digestOf(source, path));
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
  try {
    const [header = [], ...lines] = parseCsv(index, await tree.text(index));
    const column = (name: string): number => header.findIndex((cell) => cell.trim().toLowerCase() === name);
    const [id, name, description, file] = ['id', 'name', 'description', 'fragment_file'].map(column) as [
      number,
      number,
      number,
      number,
    ];
    if (file === -1) return [];
    return lines.flatMap((line) => {
      const path = line[file]?.trim() ?? '';
      if (path === '' || path.split('/').includes('..') || path.startsWith('/')) return [];
      return [
        {
          id: line[id]?.trim() || path,
          name: line[name] ?? '',
          description: line[description] ?? '',
          path: `${dirname(index)}/${path}`,
        },
      ];
    });
  } catch (error) {
    if (!(error instanceof BmadError || error instanceof ParseError)) throw error;
    problems.push({ file: index, message: error.message });
    return [];
  }
}

async function digestOf({ tree }: Source, path: string): Promise<string | undefined> {
  try {
    return createHash('sha256')
      .update(await tree.read(path))
      .digest('hex');
  } catch (error) {
    if (error instanceof BmadError) return undefined;
    throw error;
  }
}

function fragment(
  source: Source,
  module: string,
  { id, name, description, path }: FragmentRow,
  digest: string,
  { generation, bmadVersion }: { generation: string; bmadVersion: string | undefined },
): BmadRecord {
  return present<BmadRecord>({
    kind: 'knowledge',
    source: 'manifest',
    origin: source.origin,
    moduleName: module,
    moduleVersion: undefined,
    bmadVersion,
    name: id,
    displayName: name === '' ? undefined : name,
    title: undefined,
    icon: undefined,
    description,
    bmadRelativePath: path,
    moduleRelativePath: path,
    absolutePath: source.tree.place(path),
    exists: true,
    status: 'verified',
    generation,
    format: 'document',
    phase: undefined,
    aliases: name === '' || name === id ? [] : [name],
    deprecated: undefined,
    launches: undefined,
    digest,
  });
}
