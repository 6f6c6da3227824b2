import { MEMORY_TYPES } from '../../../model/memory.ts';
import { MOST_BYTES } from '../sound.ts';
import type { Database } from './open.ts';

/**
 * Conditions on rows, for SQLite to look at before a row is loaded: a column may hold anything, whatever its type is said
 * to be. Sizes are read from the head of a row, so a long one costs nothing.
 */

const text = (column: string, most: number): string =>
  `typeof(${column}) = 'text' AND octet_length(${column}) <= ${most}`;

export const isName = (column: string): string => text(column, MOST_BYTES.name);

/**
 * Larger ones are not numbers of JavaScript, and drivers throw where they meet one. The sign keeps SQLite from choosing an
 * index for a condition that almost all rows meet.
 */
const number = (column: string, least = 1): string =>
  `typeof(${column}) = 'integer' AND +${column} BETWEEN ${least} AND ${Number.MAX_SAFE_INTEGER}`;

const D = '[0-9]';
const FORM = `${D}${D}${D}${D}-${D}${D}-${D}${D}T${D}${D}:[0-5]${D}:[0-5]${D}.${D}${D}${D}Z`;

const moment = (column: string): string =>
  `typeof(${column}) = 'text' AND octet_length(${column}) = 24 AND ${column} GLOB '${FORM}'
   AND substr(${column}, 6, 2) BETWEEN '01' AND '12' AND substr(${column}, 9, 2) BETWEEN '01' AND '31'
   AND substr(${column}, 12, 2) <= '23'`;

const optional = (column: string, condition: string): string => `(${column} IS NULL OR ${condition})`;

/** By cases, because what is no JSON fails where it is taken apart, and SQLite may do that first. */
const tags = (column: string): string =>
  `(${column} = '[]' OR (${text(column, MOST_BYTES.tags)} AND CASE WHEN NOT json_valid(${column}) THEN FALSE
     WHEN json_type(${column}) <> 'array' THEN FALSE
     ELSE NOT EXISTS (SELECT 1 FROM json_each(${column}) AS each
       WHERE each.type <> 'text' OR octet_length(each.value) > ${MOST_BYTES.name}) END))`;

const all = (...conditions: string[]): string => `(${conditions.join(' AND ')})`;

/** What can be loaded without harm, in columns that only few read; the rest is looked at when it is. */
export const fits = (table: string): string =>
  all(
    number(`${table}.rid`),
    number(`${table}.rev`, 0),
    number(`${table}.revision`),
    ...['type', 'id', 'agent', 'project'].map((column) => isName(`${table}.${column}`)),
    text(`${table}.text`, MOST_BYTES.text),
    text(`${table}.tags`, MOST_BYTES.tags),
    text(`${table}.terms`, MOST_BYTES.terms),
    ...['created_at', 'updated_at'].map((column) => isName(`${table}.${column}`)),
    ...['forgotten_at', 'superseded_by', 'superseded_at'].map((column) =>
      optional(`${table}.${column}`, isName(`${table}.${column}`)),
    ),
  );

/** A row of `memory` that is a memory. */
export const sound = (table = 'memory'): string =>
  all(
    fits(table),
    `+${table}.type IN (${MEMORY_TYPES.map((type) => `'${type}'`).join(', ')})`,
    tags(`${table}.tags`),
    ...['created_at', 'updated_at'].map((column) => moment(`${table}.${column}`)),
    ...['forgotten_at', 'superseded_at'].map((column) =>
      optional(`${table}.${column}`, moment(`${table}.${column}`)),
    ),
  );

export const SOUND = sound();

export const SOUND_REVISION = all(
  number('rid'),
  number('revision'),
  text('text', MOST_BYTES.text),
  tags('tags'),
  isName('agent'),
  moment('at'),
);

export const SOUND_VECTOR = all(
  number('rid'),
  isName('space'),
  `typeof(vector) = 'blob' AND octet_length(vector) <= ${MOST_BYTES.vector}`,
);

const TABLES = { memory: SOUND, revision: SOUND_REVISION, vector: SOUND_VECTOR } as const;

/** Rows that are named to whoever has to look at them. */
const NAMED = 5;

/** Tells of rows that are left out; a table of which all rows can be used says nothing. */
export function oddRows(database: Database): string[] {
  return Object.entries(TABLES).flatMap(([table, condition]) => {
    const rows = database.all<{ place: string }>(
      `SELECT CAST(rowid AS TEXT) AS place FROM ${table} WHERE NOT coalesce(${condition}, FALSE) LIMIT ${NAMED + 1}`,
    );
    if (rows.length === 0) return [];
    const places = rows.slice(0, NAMED).map(({ place }) => place);
    const more = rows.length > NAMED ? ' and more' : '';
    return [
      `The table "${table}" of ${database.path} has rows that this server has not written (rowid ${places.join(', ')}${more}); they are left out, and left unchanged.`,
    ];
  });
}
