import { breath } from '../../base/async.ts';
import { Keeper } from '../../base/files/keeper.ts';
import type { Log } from '../../base/log.ts';
import { sha256 } from '../../base/values.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { DiskCache } from '../../catalogue/disk-cache.ts';
import { ANALYSER_VERSION } from '../../meaning/analyse.ts';
import { type BmadRecord, qualifiedName } from '../../model/record.ts';
import type { MeaningTable } from './meaning-index.ts';
import { agentsAmong, type DescribedAgent, type RecordText } from './record-text.ts';
import { termRows, type Terms, termsFromRows, type WordTable } from './word-index.ts';

/** Fewer are indexed in hardly more time than it takes to find out whether they have changed. */
export const WORTH_KEEPING = 500;

/** Everything that one shelf is searched by. */
export interface ShelfIndex {
  described: DescribedAgent[];
  words: WordTable;
  /** Nothing where meaning is switched off. */
  meaning: MeaningTable | undefined;
}

/** What was indexed before, of which some records may have other texts by now. */
interface Before {
  index: ShelfIndex;
  /** What an agent said of itself, by its number among the agents, if none of its files has changed. */
  described(number: number): DescribedAgent | undefined;
  /** Where a record of this text was. */
  at(text: RecordText): number | undefined;
  terms(at: number): Terms;
}

/** Where indexes are kept for the next process. */
export interface IndexCache {
  files: DiskCache;
  writes: boolean;
  /** How many records a shelf must have. */
  fromRecords: number;
  /** The build: another one makes other texts of the same content. */
  build: string;
  /** For each agent, where everything is, or may come to be, that decides what it says of itself. */
  placesOf(agents: readonly BmadRecord[]): Promise<readonly (readonly string[])[]>;
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
  const sources = catalogue.sources.map(({ origin: { kind, root } }) => [kind, root]);
  const name = digestOf([shelf, model, sources]);
  const { startable, texts } = textsOf(catalogue, records);
  const mark: Mark = {
    maker: digestOf([build, ANALYSER_VERSION, model, sources]),
    startable: digestOf(startable),
    texts: digestOf(texts),
    // Before anything is read: what changes meanwhile is noticed by the next who compares.
    agents: await agentMarks(agents, await placesOf(agents)),
  };
  let writing: Promise<boolean> = Promise.resolve(false);

  return {
    /** What was kept: all of it, if it is still right, or what can be gone on from. */
    async restored(): Promise<{ whole?: ShelfIndex; before?: Before }> {
      const found = unpacked(await files.read(name), mark.maker);
      if (found === undefined) return {};
      const { head, part } = found;
      const isWhole =
        head.startable === mark.startable && head.texts === mark.texts && isSame(head.agents, mark.agents);
      if (isWhole && !mark.agents.includes(null)) return { whole: found.index };
      const places = new Map(
        part(DIGESTS)
          .toString('latin1')
          .split('\n')
          .map((digest, at) => [digest, at]),
      );
      const numbers = new Map(head.agents.map((agent, number) => [agent, number]));
      return {
        before: {
          index: found.index,
          described(number) {
            const own = mark.agents[number] ?? null;
            const at = own === null || head.startable !== mark.startable ? undefined : numbers.get(own);
            return at === undefined ? undefined : head.described[at];
          },
          at: (text) => places.get(textDigest(text)),
          terms: termsFromRows(found.index.words.terms, numbersIn(part(LENGTHS)), numbersIn(part(TERM_IDS))),
        },
      };
    },
    /** Nobody waits for it, as nobody depends on it. */
    keep(index: ShelfIndex, terms: readonly Terms[], indexed: readonly RecordText[]): void {
      if (!writes) return;
      writing = breath()
        .then(() => files.write(name, packed(mark, index, terms, indexed.map(textDigest))))
        .catch((error: unknown) => {
          log.info('search cache', { error: String(error) });
          return false;
        });
    },
    /** Whether the last one is kept, once it is written or cannot be. */
    written: (): Promise<boolean> => writing,
  };
}

const digestOf = (value: unknown): string => sha256(JSON.stringify(value)).slice(0, 32);

/** What is indexed of a record: all of its text, and what it is. */
const textDigest = ({ record: { kind }, fields }: RecordText): string =>
  digestOf([kind, Object.values(fields)]).slice(0, 16);

/** What stands for each agent and its files as they are; nothing where that proves nothing yet. */
async function agentMarks(
  agents: readonly BmadRecord[],
  paths: readonly (readonly string[])[],
): Promise<(string | null)[]> {
  const places = new Keeper();
  const marks: (string | null)[] = [];
  for (const [number, agent] of agents.entries()) {
    await breath();
    const { used } = await places.collecting(async () => {
      for (const path of paths[number] ?? []) places.look(path);
    });
    const stamps = places.stampsOf(used);
    marks.push(
      stamps === undefined ? null : digestOf([qualifiedName(agent), agent.description, used, [...stamps]]),
    );
  }
  return marks;
}

/** All that texts of records are made from, beside what agents say of themselves, and among what menus start something. */
function textsOf(
  { modules, callable }: Catalogue,
  records: readonly BmadRecord[],
): { startable: unknown; texts: unknown } {
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
  return { startable, texts: [help, own] };
}

function isSame<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}

/** What an index was made from. */
interface Mark {
  maker: string;
  startable: string;
  texts: string;
  agents: (string | null)[];
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
/** The last parts, which are read only if something has changed: digests of texts, and the terms of each. */
const [DIGESTS, LENGTHS, TERM_IDS] = [8, 9, 10];

/** A head as JSON, the terms as text, then rows of numbers as they are in memory: they need no parsing. */
function packed(
  mark: Mark,
  { described, words, meaning }: ShelfIndex,
  terms: readonly Terms[],
  digests: readonly string[],
): Buffer {
  const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer =>
    Buffer.from(buffer, byteOffset, byteLength);
  const none = new Uint8Array();
  const { owners = none, vectors } = meaning ?? {};
  const parts = [
    Buffer.from(words.terms.join('\n')),
    ...[words.starts, words.at, words.weights, words.fields].map(bytesOf),
    ...[owners, vectors?.scales ?? none, vectors?.numbers ?? none].map(bytesOf),
    Buffer.from(digests.join('\n'), 'latin1'),
    ...termRows(terms, words).map(bytesOf),
  ];
  const head: Head = {
    ...mark,
    described,
    count: words.count,
    width: vectors?.width,
    parts: parts.map(({ length }) => length),
  };
  const start = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(HEAD_LENGTH_BYTES);
  length.writeUInt32LE(start.length);
  return Buffer.concat([length, ...[start, ...parts].flatMap((part) => [part, padding(part.length)])]);
}

const padding = (length: number): Buffer => Buffer.alloc((ALIGNED - (length % ALIGNED)) % ALIGNED);

/** A row of numbers, copied to where rows may begin. */
function numbersIn(bytes: Buffer): Uint32Array {
  return new Uint32Array(Uint8Array.from(bytes).buffer);
}

interface Unpacked {
  head: Head;
  index: ShelfIndex;
  part(number: number): Buffer;
}

/** What was packed by the same maker; its digest was right, so only another program could have packed anything else. */
function unpacked(body: Buffer | undefined, maker: string): Unpacked | undefined {
  if (body === undefined) return undefined;
  try {
    const length = body.readUInt32LE(0);
    const head = JSON.parse(body.toString('utf8', HEAD_LENGTH_BYTES, HEAD_LENGTH_BYTES + length)) as Head;
    if (head.maker !== maker) return undefined;
    const starts = [HEAD_LENGTH_BYTES + length + padding(length).length];
    for (const size of head.parts) starts.push((starts.at(-1) ?? 0) + size + padding(size).length);
    const part = (number: number): Buffer =>
      body.subarray(starts[number], (starts[number] ?? 0) + (head.parts[number] ?? 0));
    // Copied to where rows of numbers may begin, without what is not always wanted.
    const { buffer } = Uint8Array.from(body.subarray(0, starts[DIGESTS]));
    const row = (number: number, width: number): [ArrayBuffer, number, number] => [
      buffer,
      starts[number] ?? 0,
      (head.parts[number] ?? 0) / width,
    ];
    const words = {
      count: head.count,
      terms: head.parts[0] === 0 ? [] : part(0).toString('utf8').split('\n'),
      starts: new Uint32Array(...row(1, 4)),
      at: new Uint32Array(...row(2, 4)),
      weights: new Float64Array(...row(3, 8)),
      fields: new Uint8Array(...row(4, 1)),
    };
    const meaning =
      head.width === undefined
        ? undefined
        : {
            owners: new Uint32Array(...row(5, 4)),
            vectors: {
              width: head.width,
              scales: new Float32Array(...row(6, 4)),
              numbers: new Int8Array(...row(7, 1)),
            },
          };
    return { head, index: { described: head.described, words, meaning }, part };
  } catch {
    return undefined;
  }
}
