export const isPlace = (column: string): string =>
  `typeof(${column}) = 'integer' AND +${column} BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER}`;

/**
 * The next vectors of a space in the order of the file, a thousand as one: to receive them one by one takes several times
 * as long. What filters look at is not needed for them.
 */
export const NEXT = `SELECT json_group_array(rid) AS rids, max(place) AS place, CAST(group_concat(vector, '') AS BLOB) AS vectors
  FROM (SELECT rowid AS place, rid, vector FROM vector WHERE rowid > ? AND ${isPlace('rid')} AND ${isPlace('rowid')}
    AND space = ? AND typeof(vector) = 'blob' AND octet_length(vector) = ? ORDER BY rowid LIMIT ?)`;
export interface NextVectors {
  rids: string;
  place: number | null;
  vectors: Uint8Array | null;
}

/** What was changed, in the order of change. */
export const CHANGED = `SELECT rid, rev FROM memory WHERE (rev, rid) > (?, ?) AND ${isPlace('rid')} AND ${isPlace('rev')}
  ORDER BY rev, rid LIMIT ?`;

export const VECTORS = `SELECT rid, vector FROM vector
  WHERE rid IN (SELECT value FROM json_each(?)) AND space = ? AND typeof(vector) = 'blob' AND octet_length(vector) = ?`;

/** The same as one. */
export const VECTORS_JOINED = `SELECT json_group_array(rid) AS rids, CAST(group_concat(vector, '') AS BLOB) AS vectors FROM (${VECTORS})`;

export interface VectorRow {
  rid: number;
  vector: Uint8Array;
}
