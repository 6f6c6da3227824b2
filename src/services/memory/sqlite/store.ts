import type { Database, OpenOptions } from './open.ts';
import type { Driver, SqlValue } from './driver.ts';
import type { MemoryEntry, MemoryFilter, MemoryKey } from '../../../model/memory.ts';
import type { Decide, Stored } from '../change.ts';
import { MemoryStore } from '../engine.ts';
import { spaceText } from '../rank.ts';
import { isForgotten, pageOf, positionOf, readyFilter } from '../select.ts';
import type { MemoryQuery, Page, StoreHealth, StoreOptions, VectorFor, VectorSpace } from '../store.ts';
import { copyDatabase } from './copy.ts';
import { areAllEmbedded, embeddedIn, isDamaged, metaText, numberIn, statsIn } from './figures.ts';
import { LiveDatabase, type LiveSetup } from './live.ts';
import { lookedAt } from './looked-at.ts';
import { OpenVectors } from './left-matrix.ts';
import { after, condition, entryOf, IN_ORDER, type Condition, type MemoryRow } from './rows.ts';
import { checkSchema } from './own-schema.ts';
import { migrate, SCHEMA } from './schema.ts';
import { searched } from './search.ts';
import { oddRows, SOUND } from './sound.ts';
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
  writes?: LiveSetup['writes'];
  remake?: LiveSetup['remake'];
  admit?: LiveSetup['admit'];
  onMoved?: LiveSetup['onMoved'];
}

export async function openSqliteStore({
  file,
  driver,
  journal,
  note,
  writes,
  remake,
  admit,
  onMoved,
  ...options
}: SqliteOptions): Promise<SqliteStore> {
  const live = await LiveDatabase.open({
    file,
    writes,
    remake,
    admit,
    onMoved,
    driver,
    journal,
    check: checkSchema,
    prepare: async (opened) => {
      migrate(opened);
      await reanalyse(opened, options.analyser);
    },
  });
  return new SqliteStore(live, options, note);
}

/** Memories in one SQLite file that many processes share. */
export class SqliteStore extends MemoryStore {
  readonly #live: LiveDatabase;
  readonly #vectors: OpenVectors;
  /** Whether anything was forgotten or superseded, as of a change. */
  #gone: { of: Database; rev: number; any: boolean } | undefined;
  #openings = 0;
  #stamped: Database | undefined;
  readonly #note: string | undefined;
  #ownWrites = true;

  constructor(live: LiveDatabase, options: StoreOptions, note?: string) {
    super(options);
    this.#note = note;
    this.#live = live;
    this.#vectors = new OpenVectors(options.space);
  }

  override async prepare(pause: () => Promise<void>): Promise<void> {
    await this.#live.use(async (database) => (await this.#vectors.of(database))?.load(database, pause));
  }

  override async handOn(): Promise<void> {
    await this.#live.use((database) => this.#vectors.handOn(database));
  }

  async list(filter: MemoryFilter, page: Page) {
    return this.#page((database) => condition(database, readyFilter(filter)), page);
  }

  async count(filter: MemoryFilter): Promise<number> {
    return this.#live.read((database) => {
      const { sql, values } = condition(database, readyFilter(filter));
      const count = `SELECT count(*) AS n FROM memory WHERE ${sql} AND ${SOUND}`;
      return lookedAt(database, keyOf(count, values), () => numberIn(database, count, ...values));
    });
  }

  async stats() {
    return this.#live.read((database) => lookedAt(database, 'stats', () => statsIn(database)));
  }

  /** To count takes as long as many questions; what is new since the last look is found by its number. */
  override async hasGone(): Promise<boolean> {
    return this.#live.read((database) => {
      const known = this.#gone?.of === database ? this.#gone : { of: database, rev: 0, any: false };
      const rev = Number(metaText(database, 'rev') ?? 0);
      const gone =
        'SELECT 1 FROM memory WHERE rev >= ? AND (forgotten_at NOT NULL OR superseded_at NOT NULL)';
      const any = known.any || database.get(`${gone} LIMIT 1`, known.rev) !== undefined;
      this.#gone = { of: database, rev, any };
      return any;
    });
  }

  async found(query: MemoryQuery) {
    return this.#live.use(async (database) => {
      const matrix = await this.#vectors.of(database);
      if (query.vector !== undefined) await matrix?.load(database);
      return database.read(() => {
        if (query.vector !== undefined) {
          matrix?.refresh(database, this.#ownWrites);
          this.#ownWrites = false;
        }
        return searched(database, matrix, query);
      });
    });
  }

  async purge(keys: readonly MemoryKey[]): Promise<MemoryEntry[]> {
    return this.#live.use(async (opened) => {
      const gone = await this.#write((rev, database) => {
        const found = keys.flatMap((key) => readStored(database, key) ?? []);
        const rows = found.filter(({ entry }) => isForgotten(entry));
        if (rows.length > 0) rev();
        removeStored(database, rows);
        return rows.map(({ entry }) => entry);
      });
      if (gone.length > 0) opened.emptyLog();
      return gone;
    });
  }

  async reworded(): Promise<Stored[]> {
    return this.#live.read(readReworded);
  }

  async waiting(space: VectorSpace, page: Page) {
    if (await this.#live.read((database) => areAllEmbedded(database, space)))
      return { entries: [], next: undefined };
    const sql = `forgotten_at IS NULL AND NOT EXISTS
      (SELECT 1 FROM vector v WHERE v.rid = memory.rid AND v.space = ?)`;
    return this.#page(() => ({ sql, values: [spaceText(space)] }), page);
  }

  async embedding() {
    const { space } = this.options;
    const name = space === undefined ? '' : spaceText(space);
    return this.#live.read((database) =>
      lookedAt(database, `embedding ${name}`, () => ({ space, ...embeddedIn(database, space) })),
    );
  }

  async writeVectors(space: VectorSpace, vectors: readonly VectorFor[]): Promise<number> {
    return this.#write((rev, database) => {
      let taken = 0;
      for (const { key, revision, vector } of vectors) {
        const row = database.get<{ rid: number }>(
          `SELECT rid FROM memory WHERE type = ? AND id = ? AND revision = ? AND ${SOUND}`,
          key.type,
          key.id,
          revision,
        );
        if (row !== undefined && addVector(database, row, space, vector, rev, true)) taken++;
      }
      return taken;
    });
  }

  async stamp(): Promise<string> {
    return this.#live.read((database) => {
      // The numbers of another file say nothing about those of the one before.
      if (this.#stamped !== database) this.#openings++;
      this.#stamped = database;
      return `${this.#openings}-${metaText(database, 'rev') ?? ''}`;
    });
  }

  async health(): Promise<StoreHealth> {
    return this.#live.read((database) => {
      const { path, driver, journal } = database;
      const broken = isDamaged(database);
      const odd = lookedAt(database, 'odd', () => oddRows(database));
      const notes = [
        ...database.notes,
        ...(this.#note === undefined ? [] : [this.#note]),
        ...odd,
        ...(broken ? [`${path} is damaged; restore a daily copy, or import the last export.`] : []),
      ];
      return {
        engine: 'sqlite',
        place: path,
        details: { driver: driver.name, sqlite: driver.version, journal },
        schema: SCHEMA,
        damaged: broken || odd.length > 0,
        degraded: notes.length > 0,
        notes,
      };
    });
  }

  async close(): Promise<void> {
    this.#live.close();
  }

  override async held(): Promise<MemoryStore | undefined> {
    return (await this.#live.isLast()) ? this : undefined;
  }

  override leave(): void {
    this.#vectors.drop();
    this.#live.leave();
  }

  override file(): string {
    return this.#live.file;
  }

  override async copyTo(path: string): Promise<void> {
    await this.#live.use((database) => copyDatabase(database, path));
  }

  async stored(key: MemoryKey): Promise<Stored | undefined> {
    return this.#live.read((database) => readStored(database, key));
  }

  async change<T>(keys: readonly MemoryKey[], decide: Decide<T>): Promise<T[]> {
    const { space } = this.options;
    return this.#write((rev, database) =>
      keys.map((key, index) => {
        const current = readStored(database, key);
        const { decision, answer } = decide(current, index);
        const { next, vector } = decision;
        if (next !== undefined) writeStored(database, current, { ...decision, next }, this.options, rev());
        else if (current !== undefined && vector !== undefined && space !== undefined)
          addVector(database, current, space, vector, rev, false);
        return answer;
      }),
    );
  }

  /** One transaction. Its number is taken when something changes, so that calls without effect move no stamp. */
  async #write<T>(work: (rev: () => number, database: Database) => T): Promise<T> {
    const result = await this.#live.write((database) => {
      let rev: number | undefined;
      return work(() => (rev ??= nextRev(database)), database);
    });
    this.#ownWrites = true;
    return result;
  }

  async #page(conditionOf: (database: Database) => Condition, page: Page) {
    const from = page.after === undefined ? undefined : after(positionOf(page.after));
    const rows = await this.#live.read((database) => {
      const where = conditionOf(database);
      // The signs make one condition of many: for each of them by itself SQLite expects to leave out most rows, and then sorts all
      // instead of reading the first in order.
      const sql = `SELECT * FROM memory WHERE +(${where.sql}) ${from === undefined ? '' : `AND ${from.sql}`} AND +${SOUND} ${IN_ORDER} LIMIT ?`;
      const values = [...where.values, ...(from?.values ?? []), page.limit + 1];
      const look = (): MemoryRow[] => database.all<MemoryRow>(sql, ...values);
      // A filter that hardly anything meets goes through all rows before it is known that there are no more.
      return page.limit > KEPT_ROWS ? look() : lookedAt(database, keyOf(sql, values), look);
    });
    return pageOf(rows.map(entryOf), page.limit);
  }
}

/** Of longer pages, which only programs ask for, none is kept. */
const KEPT_ROWS = 200;

const keyOf = (sql: string, values: readonly SqlValue[]): string => `${sql} ${JSON.stringify(values)}`;
