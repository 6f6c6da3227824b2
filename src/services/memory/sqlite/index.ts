import type { Page as LinePage } from '../../../lines/line.ts';
import type { MemoryKey } from '../../../model/memory.ts';
import {
  type IndexFilter,
  keyText,
  type LineIndex,
  type MemoryPage,
  type MemoryQuery,
  type Page,
  spaceText,
  type Stored,
  type StoreHealth,
  type StoreOptions,
  type Taken,
  type VectorFor,
  type VectorSpace,
} from '../engine.ts';
import { pageOf, positionOf, readyFilter } from '../rank.ts';
import { Database, type Driver, type Journal, KeptFile } from './database.ts';
import { Matrix } from './matrix.ts';
import {
  after,
  areAllEmbedded,
  type Condition,
  condition,
  entryOf,
  fileName,
  IN_ORDER,
  makeTables,
  type MemoryRow,
  metaText,
  numberIn,
  ROW,
  SCHEMA,
  statsIn,
} from './rows.ts';
import { searched } from './search.ts';
import {
  addVectors,
  headsIn,
  markIn,
  owedIn,
  readChanged,
  readStored,
  settleIn,
  takePage,
} from './writes.ts';

/** The name of the file says what it was made by, so that two programs do not make it again in turns. */
export const indexName = (project: string, { analyser }: StoreOptions): string =>
  `${project}.${SCHEMA}-${analyser.id}.db`;

/** The memories of a project in one SQLite file of the user's cache, which many processes share. */
export class SqliteIndex implements LineIndex {
  readonly #options: StoreOptions;
  readonly #file: KeptFile;
  readonly #driver: Driver;
  /** The vectors of one opening of the file. */
  #vectors: { of: Database; matrix: Matrix } | undefined;
  #ownWrites = true;

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
    return this.#read(markIn);
  }

  async take(taken: string, page: LinePage): Promise<Taken | undefined> {
    const isErased = page.lines.some(({ line }) => line.events.some(({ erased }) => erased === true));
    return this.#file.use(async (database) => {
      const changed = await database.write(() => takePage(database, taken, page, this.#options));
      this.#ownWrites = true;
      if (isErased && changed !== undefined) database.emptyLog();
      return changed;
    });
  }

  heads(keys: readonly MemoryKey[]) {
    return this.#read((database) => headsIn(database, keys));
  }

  owed(server: string) {
    return this.#read((database) => owedIn(database, server));
  }

  async settle(server: string, rev: string): Promise<void> {
    await this.#file.use((database) => database.write(() => settleIn(database, server, rev)));
  }

  async prepare(pause: () => Promise<void>): Promise<void> {
    await this.#file.use(async (database) => this.#matrixOf(database)?.load(database, pause));
  }

  async list(filter: IndexFilter, page: Page): Promise<MemoryPage> {
    const { space } = this.#options;
    const isFirst = filter.unembedded === true && page.after === undefined && space !== undefined;
    // To count takes less than a look at each memory, and mostly none is without.
    if (isFirst && (await this.#read((database) => areAllEmbedded(database, space))))
      return { entries: [], next: undefined };
    const from = page.after === undefined ? undefined : after(positionOf(page.after));
    const entries = await this.#read((database) => {
      const where = this.#condition(database, filter);
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
      const { sql, values } = this.#condition(database, filter);
      return numberIn(database, `SELECT count(*) AS n FROM memory WHERE ${sql}`, ...values);
    });
  }

  #condition(database: Database, filter: IndexFilter): Condition {
    const { sql, values } = condition(database, readyFilter(filter));
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
        matrix?.refresh(database, this.#ownWrites);
        if (matrix !== undefined) this.#ownWrites = false;
        return searched(database, matrix, query);
      });
    });
  }

  async changed(): Promise<Stored[]> {
    return this.#read(readChanged);
  }

  async writeVectors(space: VectorSpace, vectors: readonly VectorFor[]): Promise<number> {
    return this.#file.use(async (database) => {
      const taken = await database.write(() => addVectors(database, space, vectors));
      this.#ownWrites = true;
      return taken;
    });
  }

  async stamp(): Promise<string> {
    return this.#read((database) => {
      // The numbers of another file say nothing about those of the one before.
      return `${fileName(database) ?? ''}-${metaText(database, 'rev') ?? ''}`;
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
    this.#file.close();
  }

  leave(): void {
    this.#vectors = undefined;
    this.#file.leave();
  }

  async stored(keys: readonly MemoryKey[]): Promise<(Stored | undefined)[]> {
    const found = await this.#read((database) => readStored(database, keys));
    return keys.map((key) => found.get(keyText(key)));
  }

  #read<T>(work: (database: Database) => T): Promise<T> {
    return this.#file.use((database) => database.read(() => work(database)));
  }

  #matrixOf(database: Database): Matrix | undefined {
    const { space } = this.#options;
    if (space === undefined) return undefined;
    if (this.#vectors?.of !== database) this.#vectors = { of: database, matrix: new Matrix(space) };
    return this.#vectors.matrix;
  }
}
