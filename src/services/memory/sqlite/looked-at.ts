import { logStamp } from '../../../base/files/file-log.ts';
import { isLarge, metaText, numberIn } from './figures.ts';
import type { Database } from './open.ts';

/** Databases of other projects that are remembered as well; what is known of one is a few answers. */
const MOST = 32;
/** Answers of one database: a page of rows is kept for each question that was asked. */
const MOST_ANSWERS = 60;

/** By path, since each look at the health of a store may open it anew. */
const known = new Map<string, { version: string; answers: Map<string, unknown> }>();

/** What changes with every write: our own number of it, the file, and the one that writes go to first. */
function versionOf(database: Database): string {
  const { path } = database;
  const ahead = logStamp(`${path}-wal`);
  const written = ahead === undefined || ahead.bytes === 0 ? '' : ahead.version;
  return `${metaText(database, 'rev') ?? ''} ${logStamp(path)?.version ?? ''} ${written}`;
}

/**
 * An answer that takes a look at every row, kept as long as nothing was written: at a hundred thousand memories, each takes
 * tenths of a second. A small database is looked at each time.
 */
export function lookedAt<T>(database: Database, what: string, look: () => T): T {
  if (!isLarge(database)) return look();
  // Before the look: what is written meanwhile makes it another version.
  const version = versionOf(database);
  let entry = known.get(database.path);
  if (entry?.version !== version) {
    entry = { version, answers: new Map() };
    known.delete(database.path);
    known.set(database.path, entry);
    const [oldest] = known.keys();
    if (known.size > MOST && oldest !== undefined) known.delete(oldest);
  }
  // Times of files are a few milliseconds long. A connection that has seen others write has another number than a new one.
  const seen = numberIn(database, 'SELECT data_version AS n FROM pragma_data_version');
  const key = `${what} ${seen}`;
  if (!entry.answers.has(key)) {
    if (entry.answers.size >= MOST_ANSWERS) entry.answers.clear();
    entry.answers.set(key, look());
  }
  return entry.answers.get(key) as T;
}
