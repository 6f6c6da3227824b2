import { jsonIn } from '../../../base/parse/json.ts';
import type { MemoryEntry } from '../../../model/memory.ts';
import { isSoundEntry } from '../sound.ts';
import type { Database } from './open.ts';
import { entryOf, termsOf, type MemoryRow } from './rows.ts';
import { fits } from './sound.ts';

/** A memory that was looked at closely. */
export interface KeptRow {
  entry: MemoryEntry;
  terms: readonly string[];
}

interface Kept {
  rev: string;
  rows: Map<number, KeptRow>;
  characters: number;
}

/** Some megabytes. */
const MOST_CHARACTERS = 4_000_000;

const known = new WeakMap<Database, Kept>();

/**
 * Those of these rows that are memories, in their order. They are kept as long as nothing changes: one question is asked in several
 * wordings, which find much of the same.
 */
export function rowsOf(database: Database, rids: readonly number[], rev: string): Map<number, KeptRow> {
  let kept = known.get(database);
  if (kept?.rev !== rev || kept.characters > MOST_CHARACTERS) {
    kept = { rev, rows: new Map(), characters: 0 };
    known.set(database, kept);
  }
  const { rows } = kept;
  const missing = rids.filter((rid) => !rows.has(rid));
  for (const row of missing.length === 0 ? [] : read(database, missing)) {
    // What can be loaded without harm is looked at here: SQLite takes as long for it as to read the row.
    const entry = entryOf(row);
    if (!isSoundEntry(entry) || !areTexts(row.tags)) continue;
    rows.set(row.rid, { entry, terms: termsOf(row.terms) });
    kept.characters += row.text.length + row.terms.length;
  }
  const found = new Map<number, KeptRow>();
  for (const rid of rids) {
    const row = rows.get(rid);
    if (row !== undefined) found.set(rid, row);
  }
  return found;
}

const COLUMNS =
  'rid, type, id, agent, text, tags, project, created_at, updated_at, revision, forgotten_at, superseded_by, superseded_at, terms';
const WANTED = `FROM memory WHERE rid IN (SELECT value FROM json_each(?)) AND ${fits('memory')}`;

/** As one text: to take it apart takes half of the time that it takes to receive each column of each row. */
const JOINED = `SELECT json_group_array(json_array(${COLUMNS})) AS rows ${WANTED}`;
/** Drivers end a text here; only a file from elsewhere has one that goes on. */
const NUL = '\\u0000';

/** Together the largest rows that fit still make a text that SQLite and JavaScript can hold. */
const AT_ONCE = 32;

function read(database: Database, rids: readonly number[]): MemoryRow[] {
  const rows: MemoryRow[] = [];
  for (let at = 0; at < rids.length; at += AT_ONCE)
    rows.push(...readSome(database, rids.slice(at, at + AT_ONCE)));
  return rows;
}

function readSome(database: Database, rids: readonly number[]): MemoryRow[] {
  const wanted = JSON.stringify(rids);
  const joined = database.get<{ rows: string }>(JOINED, wanted)?.rows ?? '[]';
  const rows = joined.includes(NUL) ? undefined : jsonIn(joined);
  if (!Array.isArray(rows)) return database.all<MemoryRow>(`SELECT ${COLUMNS} ${WANTED}`, wanted);
  return (rows as Values[]).map(rowOf);
}

type Time = string | null;
type Values = [
  number,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  string,
  number,
  Time,
  Time,
  Time,
  string,
];

function rowOf([
  rid,
  type,
  id,
  agent,
  text,
  tags,
  project,
  created_at,
  updated_at,
  revision,
  ...rest
]: Values): MemoryRow {
  const [forgotten_at, superseded_by, superseded_at, terms] = rest;
  return {
    rid,
    type,
    id,
    agent,
    text,
    tags,
    project,
    created_at,
    updated_at,
    revision,
    forgotten_at,
    superseded_by,
    superseded_at,
    terms,
  };
}

function areTexts(tags: string): boolean {
  const value = tags === '[]' ? [] : jsonIn(tags);
  return Array.isArray(value) && value.every((tag) => typeof tag === 'string');
}
