import { jsonIn } from '../../../base/parse/json.ts';
import type { Database } from './open.ts';
import type { SqlValue } from './driver.ts';
import {
  MEMORY_TYPES,
  type MemoryEntry,
  type MemoryRevision,
  type MemoryType,
} from '../../../model/memory.ts';
import { spelled, type Position, type ReadyFilter } from '../select.ts';
import { TYPE_NUMBER } from './schema.ts';
import { isName } from './sound.ts';

export interface MemoryRow {
  rid: number;
  type: string;
  id: string;
  agent: string;
  text: string;
  tags: string;
  project: string;
  created_at: string;
  updated_at: string;
  revision: number;
  forgotten_at: string | null;
  superseded_by: string | null;
  superseded_at: string | null;
  terms: string;
}

export type RevisionRow = Omit<MemoryRevision, 'tags'> & { tags: string };

export function entryOf(row: MemoryRow): MemoryEntry {
  return {
    id: row.id,
    type: row.type as MemoryType,
    agent: row.agent,
    text: row.text,
    tags: tagsOf(row.tags),
    project: row.project,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    revision: row.revision,
    ...(row.forgotten_at === null ? {} : { forgottenAt: row.forgotten_at }),
    ...(row.superseded_by === null ? {} : { supersededBy: row.superseded_by }),
    ...(row.superseded_at === null ? {} : { supersededAt: row.superseded_at }),
  };
}

export function revisionOf({ revision, text, tags, agent, at }: RevisionRow): MemoryRevision {
  return { revision, text, tags: tagsOf(tags), agent, at };
}

export function tagsOf(text: string): string[] {
  const tags = jsonIn(text);
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [];
}

/** Words as one column: none of them has a space. */
export function termsText(terms: readonly string[]): string {
  return terms.map((term) => term.replace(/\s+/g, '')).join(' ');
}

export const termsOf = (text: string): string[] => (text === '' ? [] : text.split(' '));

/** A word as the index sees it: letters and digits of ASCII, so that its tokenizer neither splits nor folds it. */
export function indexed(term: string): string {
  return /^[a-z0-9]+$/.test(term) ? term : `0x${Buffer.from(term, 'utf8').toString('hex')}`;
}

export interface Condition {
  sql: string;
  values: SqlValue[];
}

/** Jumps from name to name in the index, so that it does not depend on how many memories there are. */
const AGENTS = `WITH RECURSIVE name(agent) AS (
  SELECT min(agent) FROM memory WHERE ${isName('agent')}
  UNION ALL SELECT (SELECT min(agent) FROM memory WHERE agent > name.agent AND ${isName('agent')}) FROM name
    WHERE name.agent IS NOT NULL
) SELECT agent FROM name WHERE agent IS NOT NULL`;

/** The filter as a condition on the table `memory`. */
export function condition(database: Database, wanted: ReadyFilter): Condition {
  const known = wanted.agents === undefined ? [] : database.all<{ agent: string }>(AGENTS);
  const filter = spelled(
    wanted,
    known.map(({ agent }) => agent),
  );
  const parts: string[] = [];
  const values: SqlValue[] = [];
  const add = (sql: string, ...more: SqlValue[]): void => {
    parts.push(sql);
    values.push(...more);
  };
  const list = (items: Iterable<string>): string => JSON.stringify([...items]);
  if (filter.types !== undefined) add('type IN (SELECT value FROM json_each(?))', list(filter.types));
  if (filter.agents !== undefined) add('agent IN (SELECT value FROM json_each(?))', list(filter.agents));
  // What is no JSON fails where it is taken apart.
  const tagged =
    "EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(tags) THEN tags ELSE '[]' END) AS tag WHERE tag.value";
  if (filter.tagsAny.length > 0) add(`${tagged} IN (SELECT value FROM json_each(?)))`, list(filter.tagsAny));
  for (const tag of filter.tagsAll) add(`${tagged} = ?)`, tag);
  if (filter.since !== undefined) add('updated_at >= ?', filter.since);
  if (filter.until !== undefined) add('updated_at <= ?', filter.until);
  if (!filter.superseded) add('superseded_at IS NULL');
  if (!filter.forgotten) add('forgotten_at IS NULL');
  if (filter.forgottenBefore !== undefined) add('forgotten_at < ?', filter.forgottenBefore);
  return { sql: parts.length === 0 ? 'TRUE' : parts.join(' AND '), values };
}

export const IN_ORDER = `ORDER BY created_at DESC, ${TYPE_NUMBER}, id`;

export function after({ createdAt, type, id }: Position): Condition {
  const number = MEMORY_TYPES.indexOf(type);
  return {
    sql: `created_at <= ? AND (created_at < ? OR ${TYPE_NUMBER} > ? OR (${TYPE_NUMBER} = ? AND id > ?))`,
    values: [createdAt, createdAt, number, number, id],
  };
}
