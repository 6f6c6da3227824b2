import { openSqlite, type Database, type OpenOptions } from './open.ts';
import type { Driver } from './driver.ts';
import type { MemoryEntry, MemoryFilter, MemoryKey } from '../../../model/memory.ts';
import type { Decide, Stored } from '../change.ts';
import { MemoryStore } from '../engine.ts';
import { spaceOf, spaceText } from '../rank.ts';
import { isForgotten, pageOf, positionOf, readyFilter } from '../select.ts';
import type { MemoryQuery, Page, StoreHealth, StoreOptions, VectorFor, VectorSpace } from '../store.ts';
import { noneOfEachType, sortedCounts } from '../tally.ts';
import { Matrix } from './matrix.ts';
import { after, condition, entryOf, IN_ORDER, type Condition, type MemoryRow } from './rows.ts';
import { migrate, SCHEMA } from './schema.ts';
import { searched } from './search.ts';
import {
  addVector,
  nextRev,
  readReworded,
  readStored,
  reanalyse,
  removeStored,
  writeStored,
} from './writes.ts';

export interface SqliteOptions extends StoreOptions {
  file: string;
  /** A driver other than the best available one; for tests. */
  driver?: Driver | undefined;
  /** How the file is written; `auto` looks at the file system. */
  journal?: OpenOptions['journal'];
  /** What the health of the store has to say beside its own; the store then counts as degraded. */
  note?: string | undefined;
}

/** Up to this size, the health of a store includes a look through its file. */
const CHECKED_BYTES = 16_000_000;

export async function openSqliteStore({
  file,
  driver,
  journal,
  note,
  ...options
}: SqliteOptions): Promise<SqliteStore> {
  const database = await openSqlite(file, {
    driver,
    journal,
    prepare: async (opened) => {
      migrate(opened);
      await reanalyse(opened, options.analyser);
    },
  });
  return new SqliteStore(database, options, note);
}

/** Memories in one SQLite file that many processes share. */
export class SqliteStore extends MemoryStore {
  readonly #database: Database;
  readonly #matrix: Matrix | undefined;
  readonly #note: string | undefined;
  #ownWrites = true;
  #closed = false;

  constructor(database: Database, options: StoreOptions, note?: string) {
    super(options);
    this.#note = note;
    this.#database = database;
    this.#matrix = options.space === undefined ? undefined : new Matrix(options.space);
  }

  async list(filter: MemoryFilter, page: Page) {
    return this.#page(() => condition(this.#database, readyFilter(filter)), page);
  }

  async count(filter: MemoryFilter): Promise<number> {
    return this.#database.read(() => {
      const { sql, values } = condition(this.#database, readyFilter(filter));
      return this.#number(`SELECT count(*) AS n FROM memory WHERE ${sql}`, ...values);
    });
  }

  async stats() {
    const database = this.#database;
    return database.read(() => {
      const live = 'forgotten_at IS NULL AND superseded_at IS NULL';
      const grouped = (column: string): { name: string; n: number }[] =>
        database.all(`SELECT ${column} AS name, count(*) AS n FROM memory WHERE ${live} GROUP BY ${column}`);
      const times = database.get<{ oldest: string | null; newest: string | null }>(
        'SELECT min(created_at) AS oldest, max(updated_at) AS newest FROM memory',
      );
      const spaces = database.all<{ space: string; n: number }>(
        'SELECT space, count(*) AS n FROM vector GROUP BY space ORDER BY n DESC, space',
      );
      return {
        total: this.#number('SELECT count(*) AS n FROM memory'),
        live: this.#number(`SELECT count(*) AS n FROM memory WHERE ${live}`),
        superseded: this.#number(
          'SELECT count(*) AS n FROM memory WHERE superseded_at IS NOT NULL AND forgotten_at IS NULL',
        ),
        forgotten: this.#number('SELECT count(*) AS n FROM memory WHERE forgotten_at IS NOT NULL'),
        byType: {
          ...noneOfEachType(),
          ...Object.fromEntries(grouped('type').map(({ name, n }) => [name, n])),
        },
        byAgent: sortedCounts(new Map(grouped('agent').map(({ name, n }) => [name, n]))),
        spaces: spaces.map(({ space, n }) => ({ ...spaceOf(space), count: n })),
        oldest: times?.oldest ?? undefined,
        newest: times?.newest ?? undefined,
      };
    });
  }

  protected async found(query: MemoryQuery) {
    if (query.vector !== undefined) await this.#matrix?.load(this.#database);
    return this.#database.read(() => {
      if (query.vector !== undefined) {
        this.#matrix?.refresh(this.#database, this.#ownWrites);
        this.#ownWrites = false;
      }
      return searched(this.#database, this.#matrix, query);
    });
  }

  async purge(keys: readonly MemoryKey[]): Promise<MemoryEntry[]> {
    // What is removed is overwritten, so that it cannot be recovered from the file.
    this.#database.exec('PRAGMA secure_delete=ON');
    const gone = await this.#write((rev) => {
      const found = keys.flatMap((key) => readStored(this.#database, key) ?? []);
      const rows = found.filter(({ entry }) => isForgotten(entry));
      if (rows.length > 0) rev();
      removeStored(this.#database, rows);
      return rows.map(({ entry }) => entry);
    });
    if (gone.length > 0) this.#database.emptyLog();
    return gone;
  }

  async reworded(): Promise<Stored[]> {
    return this.#database.read(() => readReworded(this.#database));
  }

  protected async waiting(space: VectorSpace, page: Page) {
    const sql = `forgotten_at IS NULL AND NOT EXISTS
      (SELECT 1 FROM vector v WHERE v.rid = memory.rid AND v.space = ?)`;
    return this.#page(() => ({ sql, values: [spaceText(space)] }), page);
  }

  async embedding() {
    const { space } = this.options;
    return this.#database.read(() => ({
      space,
      total: this.#number('SELECT count(*) AS n FROM memory WHERE forgotten_at IS NULL'),
      embedded:
        space === undefined
          ? 0
          : this.#number(
              `SELECT count(*) AS n FROM vector v JOIN memory m ON m.rid = v.rid
               WHERE v.space = ? AND m.forgotten_at IS NULL`,
              spaceText(space),
            ),
    }));
  }

  protected async writeVectors(space: VectorSpace, vectors: readonly VectorFor[]): Promise<number> {
    return this.#write((rev) => {
      let taken = 0;
      for (const { key, revision, vector } of vectors) {
        const row = this.#database.get<{ rid: number }>(
          'SELECT rid FROM memory WHERE type = ? AND id = ? AND revision = ?',
          key.type,
          key.id,
          revision,
        );
        if (row !== undefined && addVector(this.#database, row, space, vector, rev, true)) taken++;
      }
      return taken;
    });
  }

  async stamp(): Promise<string> {
    return this.#database.read(() =>
      String(this.#number("SELECT CAST(value AS INTEGER) AS n FROM meta WHERE key = 'rev'")),
    );
  }

  async health(): Promise<StoreHealth> {
    const { path, driver, journal } = this.#database;
    const notes = [...this.#database.notes, ...(this.#note === undefined ? [] : [this.#note])];
    const damage = await this.#database.read(() => {
      const size = this.#number(
        'SELECT page_count * page_size AS n FROM pragma_page_count(), pragma_page_size()',
      );
      // Looking through a large file would hold up everything else.
      if (size > CHECKED_BYTES) return [];
      const found = this.#database.get<{ quick_check: string }>('PRAGMA quick_check(1)')?.quick_check;
      return found === 'ok' ? [] : [`${path} is damaged; move it elsewhere and import the last export.`];
    });
    return {
      engine: 'sqlite',
      place: path,
      details: { driver: driver.name, sqlite: driver.version, journal },
      schema: SCHEMA,
      degraded: notes.length + damage.length > 0,
      notes: [...notes, ...damage],
    };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#database.close();
  }

  protected async stored(key: MemoryKey): Promise<Stored | undefined> {
    return this.#database.read(() => readStored(this.#database, key));
  }

  protected async change<T>(keys: readonly MemoryKey[], decide: Decide<T>): Promise<T[]> {
    const { space } = this.options;
    return this.#write((rev) =>
      keys.map((key, index) => {
        const current = readStored(this.#database, key);
        const { decision, answer } = decide(current, index);
        const { next, vector } = decision;
        if (next !== undefined)
          writeStored(this.#database, current, { ...decision, next }, this.options, rev());
        else if (current !== undefined && vector !== undefined && space !== undefined)
          addVector(this.#database, current, space, vector, rev, false);
        return answer;
      }),
    );
  }

  /** One transaction. Its number is taken when something changes, so that calls without effect move no stamp. */
  async #write<T>(work: (rev: () => number) => T): Promise<T> {
    const result = await this.#database.write(() => {
      let rev: number | undefined;
      return work(() => (rev ??= nextRev(this.#database)));
    });
    this.#ownWrites = true;
    return result;
  }

  async #page(conditionOf: () => Condition, page: Page) {
    const from = page.after === undefined ? undefined : after(positionOf(page.after));
    const rows = await this.#database.read(() => {
      const where = conditionOf();
      return this.#database.all<MemoryRow>(
        `SELECT * FROM memory WHERE ${where.sql} ${from === undefined ? '' : `AND ${from.sql}`} ${IN_ORDER} LIMIT ?`,
        ...where.values,
        ...(from?.values ?? []),
        page.limit + 1,
      );
    });
    return pageOf(rows.map(entryOf), page.limit);
  }

  #number(sql: string, ...values: Condition['values']): number {
    return this.#database.get<{ n: number }>(sql, ...values)?.n ?? 0;
  }
}
