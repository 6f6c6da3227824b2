import { join } from 'node:path';
import { contentPath } from '../../src/base/files/paths.ts';
import { execute } from '../../src/operations/execute.ts';
import { activate } from '../../src/operations/activation/activate.ts';
import { shownTextSchema } from '../../src/operations/catalogue/shown-text.ts';
import type { Context } from '../../src/operations/context.ts';
import { byteLength } from '../../src/base/text/text.ts';
import { qualifiedName, STARTABLE, type BmadRecord } from '../../src/model/record.ts';
import { testCall } from './app.ts';

/** What starting something delivers, by its size. */
interface DeliveredSize {
  kind: string;
  name: string;
  /** What comes before the first file. */
  preamble: number;
  whole: number;
  /** How many answers it takes to read all of it. */
  parts: number;
}

/** Everything that can be started, in the order of the catalogue. */
export async function startable(context: Context): Promise<BmadRecord[]> {
  const { catalogue } = await context.workspace();
  return catalogue.winners.filter(
    (record) => STARTABLE.includes(record.kind) && record.launches === undefined,
  );
}

/** All parts of a delivery, as a host gets them one after the other. */
export async function partsOf(name: string, kind: 'agent' | 'workflow', context: Context): Promise<string[]> {
  const parts: string[] = [];
  let cursor: string | undefined;
  do {
    const answer = await execute(activate, { name, kind, cursor }, context, testCall());
    if (!answer.ok) throw new Error(`${name}: ${answer.error.text}`);
    const shown = shownTextSchema.parse(answer.data);
    parts.push(shown.text);
    cursor = shown.next;
  } while (cursor !== undefined);
  return parts;
}

/** What comes before the first file. */
export function preambleOf(text: string): string {
  const start = text.indexOf('\n## File ');
  return start < 0 ? text : text.slice(0, start);
}

export async function deliveredSizes(context: Context): Promise<DeliveredSize[]> {
  const sizes: DeliveredSize[] = [];
  for (const record of await startable(context)) {
    const name = qualifiedName(record);
    const parts = await partsOf(name, record.kind === 'agent' ? 'agent' : 'workflow', context);
    sizes.push({
      kind: record.kind,
      name,
      preamble: byteLength(preambleOf(parts.join(''))),
      whole: parts.reduce((sum, part) => sum + byteLength(part), 0),
      parts: parts.length,
    });
  }
  return sizes;
}

/** The files of a delivery, by their addresses. */
export function filesIn(whole: string): { uri: string; text: string }[] {
  return [...whole.matchAll(/^----- BEGIN (\S+) -----\n([^]*?)^----- END \1 -----$/gm)].map(
    ([, uri = '', text = '']) => ({ uri, text }),
  );
}

/** Where a file is on disk, of what comes with a record. */
export async function placeOf(
  uri: string,
  { bmadRelativePath, absolutePath }: BmadRecord,
  context: Context,
): Promise<string> {
  const path = contentPath(uri);
  const { catalogue } = await context.workspace();
  const other = catalogue.records.find((record) => record.bmadRelativePath === path);
  const depth = bmadRelativePath.split('/').length;
  return other?.absolutePath ?? join(absolutePath, ...Array<string>(depth).fill('..'), path);
}
