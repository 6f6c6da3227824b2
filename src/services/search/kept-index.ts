import { breath } from '../../base/async.ts';
import { Keeper } from '../../base/files/keeper.ts';
import type { Log } from '../../base/log.ts';
import { sha256 } from '../../base/values.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { DiskCache } from '../../catalogue/disk-cache.ts';
import { ANALYSER_VERSION } from '../../meaning/analyse.ts';
import { type BmadRecord, qualifiedName } from '../../model/record.ts';
import type { MeaningTable } from './meaning-index.ts';
import { agentsAmong, type DescribedAgent } from './record-text.ts';
import type { WordTable } from './word-table.ts';

/** Fewer are indexed in hardly more time than it takes to find out whether they have changed. */
export const WORTH_KEEPING = 500;

/** Everything that one shelf is searched by. */
export interface ShelfIndex {
  described: DescribedAgent[];
  words: WordTable;
  /** Nothing where meaning is switched off. */
  meaning: MeaningTable | undefined;
}

/** Where indexes are kept for the next process. */
export interface IndexCache {
  files: DiskCache;
  writes: boolean;
  /** How many records a shelf must have. */
  fromRecords: number;
  /** The build: another one makes other texts of the same content. */
  build: string;
  /** Where everything is, or may come to be, that decides what agents say of themselves. */
  placesOf(agents: readonly BmadRecord[]): Promise<readonly string[]>;
  log: Log;
}

/** One shelf as its texts are now, and what was kept of it. */
export type KeptIndex = Awaited<ReturnType<typeof openKeptIndex>>;

/** An index is used only for the very texts it was made from, and the very files that agents are described in. */
export async function openKeptIndex(
  { files, writes, build, placesOf, log }: IndexCache,
  shelf: string,
  catalogue: Catalogue,
  records: readonly BmadRecord[],
  model: string | undefined,
) {
  const agents = agentsAmong(records).map(({ agent }) => agent);
  const paths = await placesOf(agents);
  const sources = catalogue.sources.map(({ origin: { kind, root } }) => [kind, root]);
  const maker = [build, ANALYSER_VERSION, model];
  const name = sha256(JSON.stringify([shelf, model, sources])).slice(0, 32);
  const digest = sha256(JSON.stringify([maker, sources, paths, textsOf(catalogue, records)]));
  // Before anything is read: what changes meanwhile is noticed by the next who compares.
  const places = new Keeper();
  const { used } = await places.collecting(async () => {
    for (const path of paths) {
      await breath();
      places.look(path);
    }
  });
  const found = places.stampsOf(used);
  const stamps = found && [...found];
  let writing: Promise<boolean> = Promise.resolve(false);

  return {
    /** What was kept, if it is still right. */
    async restored(): Promise<ShelfIndex | undefined> {
      const before = unpacked(await files.read(name));
      if (before === undefined || stamps === undefined) return undefined;
      const { mark, index } = before;
      return mark.digest === digest && isSame(mark.paths, used) && isSame(mark.stamps, stamps)
        ? index
        : undefined;
    },
    /** Nobody waits for it, as nobody depends on it. */
    keep(index: ShelfIndex): void {
      if (!writes || stamps === undefined) return;
      writing = breath()
        .then(() => files.write(name, packed({ digest, paths: used, stamps }, index)))
        .catch((error: unknown) => {
          log.info('search cache', { error: String(error) });
          return false;
        });
    },
    /** Whether the last one is kept, once it is written or cannot be. */
    written: (): Promise<boolean> => writing,
  };
}

/** All that texts of records are made from, beside what agents say of themselves. What menus start is among the callable. */
function textsOf({ modules, callable }: Catalogue, records: readonly BmadRecord[]): unknown {
  const help = modules.map(({ code, help: rows, roster }) => [
    code,
    rows.map(({ skill, displayName, description, outputs }) => [skill, displayName, description, outputs]),
    roster.map(({ code: agent, description }) => [agent, description]),
  ]);
  const startable = callable.map((record) => [
    record.kind,
    qualifiedName(record),
    record.bmadRelativePath,
    record.origin.root,
    record.deprecated?.successor,
  ]);
  const own = records.map(({ kind, moduleName, name, ...more }) => [
    kind,
    moduleName,
    name,
    more.aliases,
    more.title,
    more.displayName,
    more.description,
    more.phase,
  ]);
  return [help, startable, own];
}

function isSame<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}

/** What an index was made from. */
interface Mark {
  digest: string;
  /** The files that agents are described in, and how they were. */
  paths: readonly string[];
  stamps: readonly number[];
}

interface Head extends Mark {
  described: DescribedAgent[];
  count: number;
  /** How many numbers a vector has; nothing where there are none. */
  width: number | undefined;
  /** How many bytes each part has. */
  parts: number[];
}

/** Rows of numbers begin at a multiple of their width. */
const ALIGNED = 8;
const HEAD_LENGTH_BYTES = 8;

/** A head as JSON, the terms as text, then rows of numbers as they are in memory: they need no parsing. */
function packed(mark: Mark, { described, words, meaning }: ShelfIndex): Buffer {
  const { count, terms, starts, at, weights, fields } = words;
  const rows: ArrayBufferView[] = [starts, at, weights, fields];
  if (meaning !== undefined) rows.push(meaning.owners, meaning.vectors.scales, meaning.vectors.numbers);
  const parts = [
    Buffer.from(terms.join('\n')),
    ...rows.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
  ];
  const width = meaning?.vectors.width;
  const lengths = parts.map(({ length }) => length);
  const head = Buffer.from(
    JSON.stringify({ ...mark, described, count, width, parts: lengths } satisfies Head),
  );
  const length = Buffer.alloc(HEAD_LENGTH_BYTES);
  length.writeUInt32LE(head.length);
  return Buffer.concat([length, ...[head, ...parts].flatMap((part) => [part, padding(part.length)])]);
}

const padding = (length: number): Buffer => Buffer.alloc((ALIGNED - (length % ALIGNED)) % ALIGNED);

/** What was packed; its digest was right, so only another program could have packed anything else. */
function unpacked(body: Buffer | undefined): { mark: Mark; index: ShelfIndex } | undefined {
  if (body === undefined) return undefined;
  try {
    // Copied to where rows of numbers may begin.
    const bytes = new Uint8Array(body);
    const view = Buffer.from(bytes.buffer);
    let from = HEAD_LENGTH_BYTES;
    const part = (length: number): { at: number; length: number } => {
      const at = from;
      from += length + padding(length).length;
      return { at, length };
    };
    const text = ({ at, length }: { at: number; length: number }): string =>
      view.toString('utf8', at, at + length);
    const head = JSON.parse(text(part(view.readUInt32LE(0)))) as Head;
    const [terms, starts, at, weights, fields, owners, scales, numbers] = head.parts.map(part);
    if (!terms || !starts || !at || !weights || !fields) return undefined;
    const { buffer } = bytes;
    const words = {
      count: head.count,
      terms: terms.length === 0 ? [] : text(terms).split('\n'),
      starts: new Uint32Array(buffer, starts.at, starts.length / 4),
      at: new Uint32Array(buffer, at.at, at.length / 4),
      weights: new Float64Array(buffer, weights.at, weights.length / 8),
      fields: new Uint8Array(buffer, fields.at, fields.length),
    };
    const meaning =
      head.width === undefined || !owners || !scales || !numbers
        ? undefined
        : {
            owners: new Uint32Array(buffer, owners.at, owners.length / 4),
            vectors: {
              width: head.width,
              scales: new Float32Array(buffer, scales.at, scales.length / 4),
              numbers: new Int8Array(buffer, numbers.at, numbers.length),
            },
          };
    return { mark: head, index: { described: head.described, words, meaning } };
  } catch {
    return undefined;
  }
}
