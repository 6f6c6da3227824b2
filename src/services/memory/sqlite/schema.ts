import { readOnlyFailure } from './failures.ts';
import type { Database } from './open.ts';

/** The place of a type in lists, as an expression that the index on the order of lists has too. */
export const TYPE_NUMBER =
  "(CASE type WHEN 'shared-context' THEN 0 WHEN 'decisions' THEN 1 WHEN 'agent-learnings' THEN 2 WHEN 'failures' THEN 3 ELSE 4 END)";

/** Each step makes the tables of one version from those of the version before. A step that was shipped never changes. */
export const STEPS: readonly string[] = [
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
   INSERT INTO meta VALUES ('rev', '0');
   CREATE TABLE memory (
     rid INTEGER PRIMARY KEY,
     type TEXT NOT NULL,
     id TEXT NOT NULL,
     agent TEXT NOT NULL,
     text TEXT NOT NULL,
     tags TEXT NOT NULL,
     project TEXT NOT NULL,
     created_at TEXT NOT NULL,
     updated_at TEXT NOT NULL,
     revision INTEGER NOT NULL,
     forgotten_at TEXT,
     superseded_by TEXT,
     superseded_at TEXT,
     terms TEXT NOT NULL,
     rev INTEGER NOT NULL,
     UNIQUE (type, id)
   );
   CREATE INDEX memory_order ON memory (created_at DESC, ${TYPE_NUMBER}, id);
   CREATE INDEX memory_rev ON memory (rev);
   CREATE TABLE revision (
     rid INTEGER NOT NULL REFERENCES memory (rid),
     revision INTEGER NOT NULL,
     text TEXT NOT NULL,
     tags TEXT NOT NULL,
     agent TEXT NOT NULL,
     at TEXT NOT NULL,
     PRIMARY KEY (rid, revision)
   );
   CREATE TABLE vector (
     rid INTEGER NOT NULL REFERENCES memory (rid),
     space TEXT NOT NULL,
     vector BLOB NOT NULL,
     PRIMARY KEY (rid, space)
   );
   CREATE VIRTUAL TABLE words USING fts5(terms, content='', contentless_delete=1, tokenize='ascii');`,
  'CREATE INDEX memory_agent ON memory (agent);',
];

export const SCHEMA = STEPS.length;

/** Brings the tables to the newest version; several processes may try at once. */
export function migrate(database: Database): void {
  // What is in the file is checked with the first transaction.
  const known = database.transaction('BEGIN', () => version(database));
  if (known !== SCHEMA && database.readOnly) throw readOnlyFailure(database.path);
  if (known !== SCHEMA)
    database.transaction('BEGIN IMMEDIATE', () => {
      const from = version(database);
      for (const step of STEPS.slice(from)) database.exec(step);
      database.exec(`PRAGMA user_version=${SCHEMA}`);
    });
  for (const [name, kind] of [
    ['vocabulary', 'row'],
    ['occurrences', 'instance'],
  ])
    database.exec(
      `CREATE VIRTUAL TABLE IF NOT EXISTS temp.${name} USING fts5vocab('main', 'words', '${kind}')`,
    );
}

function version(database: Database): number {
  return database.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0;
}
