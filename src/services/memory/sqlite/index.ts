import { nameKey } from '../../../base/text/suggest.ts';
import { push } from '../../../base/values.ts';
import { type Happened, happenedIn, type Page as LinePage } from '../../../lines/line.ts';
import type { MemoryEntry, MemoryKey } from '../../../model/memory.ts';
import {
  coveredBy,
  eventsIn,
  type Heard,
  type IndexFilter,
  type MemoryPage,
  type MemoryQuery,
  type Page,
  POINT,
  spaceText,
  type StoreHealth,
  type StoreOptions,
  type VectorFor,
} from '../engine.ts';
import type { MemoryIndex, Taken } from '../followed.ts';
import { entityOf, keyOfEntity, memoryOf } from '../fold.ts';
import { pageOf, positionOf, readyFilter, termsOf } from '../rank.ts';
import { Database, type Driver, type Journal, jsonInRow, KeptFile } from './database.ts';
import { Matrix } from './matrix.ts';
import {
  after,
  areAllEmbedded,
  type Condition,
  condition,
  entryOf,
  fileName,
  IN_ORDER,
  indexed,
  IS_CHANGED,
  makeTables,
  type MemoryRow,
  metaText,
  numberIn,
  ROW,
  SCHEMA,
  searched,
  statsIn,
  termsText,
} from './rows.ts';

/** The name of the file says what it was made by, so that two programs do not make it again in turns. */
export const indexName = (project: string, { analyser }: StoreOptions): string =>
  `${project}.${SCHEMA}-${analyser.id}.db`;

/** The memories of a project in one SQLite file of the user's cache, which many processes share. */
export class SqliteIndex implements MemoryIndex {
  readonly #options: StoreOptions;
  readonly #file: KeptFile;
  readonly #driver: Driver;
  #vectors: { of: Database; matrix: Matrix } | undefined;

  constructor(
    path: string,
    driver: Driver,
    options: StoreOptions,
    journal: Journal = 'auto',
    isMade?: boolean,
  ) {
    this.#options = options;
    this.#driver = driver;
    this.#file = new KeptFile(path, driver, journal, { prepare: makeTables, identify: fileName, isMade });
  }

  get made(): string | undefined {
    return this.#file.name;
  }

  mark() {
    return this.#read((database) => {
      const mark = marksIn(database, `name < '${POINT}'`);
      return { taken: metaText(database, 'taken') ?? '', mark };
    });
  }

  points() {
    return this.#read((database) => marksIn(database, `name >= '${POINT}'`));
  }

  async take(taken: string, page: LinePage): Promise<Taken | undefined> {
    return this.#file.use(async (database) => {
      const changed = await database.write(() => takePage(database, taken, page, this.#options));
      if (changed !== undefined && hasErased(page)) database.emptyLog();
      return changed;
    });
  }

  heard(keys: readonly MemoryKey[]): Promise<Heard[][]> {
    return this.#read((database) => {
      const heard = heardOf(database, keys.map(entityOf));
      return keys.map((key) => heard.get(entityOf(key)) ?? []);
    });
  }

  touched() {
    return this.#read((database) => {
      const upTo = numberIn(database, 'SELECT max(seq) AS n FROM event');
      const sql = 'SELECT DISTINCT of FROM event WHERE seq > ?';
      const touched = database.all<{ of: string }>(sql, Number(metaText(database, TOLD) ?? 0));
      return { upTo: String(upTo), keys: touched.flatMap(({ of }) => keyOfEntity(of) ?? []) };
    });
  }

  async settle(upTo: string): Promise<void> {
    if ((await this.#read((database) => metaText(database, TOLD))) === upTo) return;
    await this.#write((database) => database.run('INSERT OR REPLACE INTO meta VALUES (?, ?)', TOLD, upTo));
  }

  async list(filter: IndexFilter, page: Page): Promise<MemoryPage> {
    const { space } = this.#options;
    const isFirst = filter.unembedded === true && page.after === undefined && space !== undefined;
    // To count takes less than a look at each memory, and mostly none is without.
    if (isFirst && (await this.#read((database) => areAllEmbedded(database, space))))
      return { entries: [], next: undefined };
    const from = page.after === undefined ? undefined : after(positionOf(page.after));
    const entries = await this.#read((database) => {
      const where = this.#condition(filter);
      // The signs make one condition of many: for each of them by itself SQLite expects to leave out most rows, and then sorts all
      // instead of reading the first in order.
      const sql = `SELECT ${ROW} FROM memory WHERE +(${where.sql}) ${from === undefined ? '' : `AND ${from.sql}`} ${IN_ORDER} LIMIT ?`;
      const values = [...where.values, ...(from?.values ?? []), page.limit + 1];
      return database.all<MemoryRow>(sql, ...values).map(entryOf);
    });
    return pageOf(entries, page.limit);
  }

  async count(filter: IndexFilter): Promise<number> {
    return this.#read((database) => {
      const { sql, values } = this.#condition(filter);
      return numberIn(database, `SELECT count(*) AS n FROM memory WHERE ${sql}`, ...values);
    });
  }

  #condition(filter: IndexFilter): Condition {
    const { sql, values } = condition(readyFilter(filter));
    const { space } = this.#options;
    if (filter.unembedded !== true || space === undefined) return { sql, values };
    const without = 'NOT EXISTS (SELECT 1 FROM vector v WHERE v.rid = memory.rid AND v.space = ?)';
    return { sql: `${sql} AND ${without}`, values: [...values, spaceText(space)] };
  }

  async stats() {
    return this.#read(statsIn);
  }

  async search(query: MemoryQuery) {
    return this.#file.use(async (database) => {
      const matrix = query.vector === undefined ? undefined : this.#matrixOf(database);
      await matrix?.load(database);
      return database.read(() => {
        matrix?.refresh(database);
        return searched(database, matrix, query);
      });
    });
  }

  changed(): Promise<MemoryKey[]> {
    const sql = `SELECT type, id FROM memory INDEXED BY memory_changed WHERE ${IS_CHANGED}`;
    return this.#read((database) => database.all<MemoryKey>(sql));
  }

  async writeVectors(vectors: readonly VectorFor[]): Promise<number> {
    const { space } = this.#options;
    if (space === undefined) return 0;
    return this.#write((database) => {
      const keys = vectors.map(({ key }) => key);
      const current = rowsOf(database, keys);
      const rids: number[] = [];
      for (const { key, text, vector } of vectors) {
        const row = current.get(entityOf(key));
        if (row?.entry.text !== text) continue;
        const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
        const sql = 'INSERT OR REPLACE INTO vector (rid, space, vector) VALUES (?, ?, ?)';
        database.run(sql, row.rid, spaceText(space), bytes);
        rids.push(row.rid);
      }
      const changed = 'UPDATE memory SET rev = ? WHERE rid IN (SELECT value FROM json_each(?))';
      if (rids.length > 0) database.run(changed, nextRev(database), JSON.stringify(rids));
      return rids.length;
    });
  }

  async vectors(keys: readonly MemoryKey[]): Promise<(Float32Array | undefined)[]> {
    const { space } = this.#options;
    if (space === undefined) return keys.map(() => undefined);
    return this.#read((database) => {
      const known = rowsOf(database, keys);
      return keys.map((key) => {
        const sql = 'SELECT vector FROM vector WHERE rid = ? AND space = ?';
        const rid = known.get(entityOf(key))?.rid ?? 0;
        const bytes = database.get<{ vector: Uint8Array }>(sql, rid, spaceText(space))?.vector;
        return bytes && new Float32Array(bytes.slice().buffer);
      });
    });
  }

  async stamp(): Promise<string> {
    return this.#read((database) => {
      // The numbers of another file say nothing about those of the one before.
      return `${fileName(database)}-${metaText(database, 'rev') ?? ''}`;
    });
  }

  async health(): Promise<StoreHealth> {
    const { name, version, safeLog } = this.#driver;
    const notes = safeLog
      ? []
      : [`SQLite ${version} (${name}) is older than 3.51.3: without a write-ahead log, writes are slower.`];
    await this.#read(() => undefined);
    return {
      engine: 'sqlite',
      place: this.#file.path,
      details: { driver: name, sqlite: version },
      degraded: notes.length > 0,
      notes,
    };
  }

  close(): void {
    this.#vectors = undefined;
    this.#file.close();
  }

  #read<T>(work: (database: Database) => T): Promise<T> {
    return this.#file.use((database) => database.read(() => work(database)));
  }

  #write<T>(work: (database: Database) => T): Promise<T> {
    return this.#file.use((database) => database.write(() => work(database)));
  }

  #matrixOf(database: Database): Matrix | undefined {
    const { space } = this.#options;
    if (space === undefined) return undefined;
    if (this.#vectors?.of !== database) this.#vectors = { of: database, matrix: new Matrix(space) };
    return this.#vectors.matrix;
  }
}

interface KnownRow extends MemoryRow {
  entry: MemoryEntry;
}

/** Those of these memories that there are; asked for together, because each question has its price. */
function rowsOf(database: Database, keys: readonly MemoryKey[]): Map<string, KnownRow> {
  const asked = JSON.stringify(keys.map(({ type, id }) => [type, id]));
  const sql = `SELECT ${ROW} FROM json_each(?) k CROSS JOIN memory m ON m.type = k.value ->> 0 AND m.id = k.value ->> 1`;
  const rows = database.all<MemoryRow>(sql, asked).map((row) => ({ ...row, entry: entryOf(row) }));
  return new Map(rows.map((row) => [entityOf(row.entry), row]));
}

/** The number of this transaction; every row that it changes carries it. */
function nextRev(database: Database): number {
  const rev = Number(metaText(database, 'rev') ?? 0) + 1;
  database.run("INSERT OR REPLACE INTO meta VALUES ('rev', ?)", String(rev));
  return rev;
}

const PUT = `INSERT OR REPLACE INTO memory (type, id, agent, agent_key, tags, created_at, updated_at, forgotten_at, superseded_at,
  revision, body, terms, rev, rid) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Brings the row of a memory to what its lines say now; inside a transaction of the caller, who writes the words. */
function writeRow(
  database: Database,
  current: KnownRow | undefined,
  entry: MemoryEntry,
  { analyser }: StoreOptions,
  { rev, fresh }: { rev: number; fresh: number },
): { rid: number; words: string } | undefined {
  const body = JSON.stringify(entry);
  // Two files, or a file and a point, often say the same.
  if (current?.body === body) return undefined;
  const isReworded = current === undefined || wordsIn(current.entry) !== wordsIn(entry);
  const terms = isReworded ? termsOf(analyser, entry) : [];
  const rid = current?.rid ?? fresh;
  database.run(
    PUT,
    entry.type,
    entry.id,
    entry.agent,
    nameKey(entry.agent),
    JSON.stringify(entry.tags),
    entry.createdAt,
    entry.updatedAt,
    entry.forgottenAt ?? null,
    entry.supersededAt ?? null,
    entry.revision,
    body,
    isReworded ? termsText(terms) : current.terms,
    rev,
    rid,
  );
  if (current !== undefined && current.entry.text !== entry.text)
    database.run('DELETE FROM vector WHERE rid = ?', rid);
  return isReworded ? { rid, words: terms.map(indexed).join(' ') } : undefined;
}

const hasErased = ({ lines }: LinePage): boolean =>
  lines.some(({ line }) => line.events.some(({ erased }) => erased === true));

const wordsIn = ({ text, tags, others = [] }: MemoryEntry): string => [text, ...others, ...tags].join('\0');

function removeRow(database: Database, { rid }: KnownRow): void {
  for (const table of ['vector', 'memory']) database.run(`DELETE FROM ${table} WHERE rid = ?`, rid);
  database.run('DELETE FROM words WHERE rowid = ?', rid);
}

/**
 * Takes a page of lines in, with all that follows from it; inside a transaction. Answers with nothing where another
 * process has taken something in since the mark was read.
 */
function takePage(
  database: Database,
  taken: string,
  page: LinePage,
  options: StoreOptions,
): Taken | undefined {
  const { lines, gone, marks } = page;
  if (metaText(database, 'taken') !== taken) return undefined;
  const touched = new Map<string, MemoryKey>();
  const touch = (of: string): boolean => {
    const key = keyOfEntity(of);
    if (key !== undefined) touched.set(of, key);
    return key !== undefined;
  };
  for (const file of gone) {
    for (const { of } of database.all<{ of: string }>('SELECT DISTINCT of FROM event WHERE file = ?', file))
      touch(of);
    database.run('DELETE FROM event WHERE file = ?', file);
  }
  const said = lines.flatMap(({ line, file }) =>
    happenedIn(line).flatMap((event) => (touch(event.of) ? { file, event } : [])),
  );
  const heard = heardOf(database, [...touched.keys()]);
  for (const each of said) {
    const { file, event } = each;
    push(heard, event.of, each);
    // Where a long file was not read to its end, the next reader begins it again.
    const put = 'INSERT OR REPLACE INTO event (of, line, file, body) VALUES (?, ?, ?, ?)';
    database.run(put, event.of, event.id, file, JSON.stringify(event));
  }
  const covered = new Map<string, Set<string>>();
  const before = rowsOf(database, [...touched.values()]);
  const rev = touched.size === 0 ? 0 : nextRev(database);
  let fresh = numberIn(database, 'SELECT max(rid) AS n FROM memory');
  const reworded: { rid: number; words: string }[] = [];
  for (const [of, key] of touched) {
    const happened = eventsIn(heard.get(of) ?? []);
    const current = before.get(of);
    const next = memoryOf(key, options.project, happened)?.entry;
    const ids = coveredBy(happened);
    if (ids.length > 0) covered.set(of, new Set(ids));
    const words =
      next === undefined ? undefined : writeRow(database, current, next, options, { rev, fresh: ++fresh });
    if (words !== undefined) reworded.push(words);
    else if (next === undefined && current !== undefined) removeRow(database, current);
  }
  // After all others: SQLite writes the words to the file whenever a row of another table follows them, which takes as long as the rest.
  for (const { rid, words } of reworded)
    database.run('INSERT OR REPLACE INTO words (rowid, terms) VALUES (?, ?)', rid, words);
  // The word index keeps words of removed rows until it is rewritten, which takes a while.
  if (hasErased(page)) database.run("INSERT INTO words (words) VALUES ('optimize')");
  for (const [name, value] of marks)
    if (value === undefined) database.run('DELETE FROM mark WHERE name = ?', name);
    else database.run('INSERT OR REPLACE INTO mark VALUES (?, ?)', name, value);
  const next = String(Number(taken) + (marks.size + touched.size > 0 ? 1 : 0));
  if (next !== taken) database.run("UPDATE meta SET value = ? WHERE key = 'taken'", next);
  return { taken: next, covered };
}

function marksIn(database: Database, which: string): Map<string, string> {
  const rows = database.all<{ name: string; value: string }>(`SELECT name, value FROM mark WHERE ${which}`);
  return new Map(rows.map(({ name, value }) => [name, value]));
}

/** The number of the last event about which a server was told. */
const TOLD = 'shared up to';

function heardOf(database: Database, entities: readonly string[]): Map<string, Heard[]> {
  const found = new Map<string, Heard[]>();
  const sql = 'SELECT e.of, e.file, e.body FROM json_each(?) k CROSS JOIN event e ON e.of = k.value';
  const rows = database.all<Record<'of' | 'file' | 'body', string>>(sql, JSON.stringify(entities));
  for (const { of, file, body } of rows) push(found, of, { file, event: jsonInRow<Happened>(body) });
  return found;
}
