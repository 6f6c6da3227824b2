import table from '../../../assets/words/wishes.json' with { type: 'json' };
import { breath } from '../../base/async.ts';
import { push } from '../../base/values.ts';
import {
  copyInBlock,
  type Embedder,
  emptyBlock,
  likenessesInBlock,
  nearScan,
  putInBlock,
  type VectorBlock,
} from '../../meaning/vectors.ts';
import { aboutAbbreviations, type RecordText, type TextAt } from './record-text.ts';

const SECOND_SHARE = 0.3;
const SENTENCE_END = /(?<=[.;!?])\s+/;
const SHORTEST = 3;
const NONE = -2;
/** How many are handed to an embedder at a time. */
const EMBEDDED_AT_ONCE = 250;

/** Short texts about records as vectors: a long one would blur what it is about. */
export interface MeaningTable {
  /** The position of the record that each vector is about, rising. */
  owners: Uint32Array;
  vectors: VectorBlock;
}

export async function meaningTable(
  count: number,
  textAt: TextAt,
  embedder: Embedder,
  signal?: AbortSignal,
  /** A table made before, and where in it a record is whose text has not changed. */
  before?: { table: MeaningTable; at(at: number): number | undefined },
): Promise<MeaningTable> {
  const rows = before === undefined ? undefined : rowsByOwner(before.table);
  const [owners, passages, copied]: [number[], [row: number, text: string][], [to: number, from: number][]] =
    [[], [], []];
  for (let at = 0; at < count; at++) {
    await breath();
    const known = before?.at(at);
    if (known === undefined)
      for (const passage of passagesOf(textAt(at))) passages.push([owners.push(at) - 1, passage]);
    else for (const from of rows?.get(known) ?? []) copied.push([owners.push(at) - 1, from]);
  }
  let vectors = emptyBlock(copied.length === 0 ? 0 : owners.length, before?.table.vectors.width ?? 0);
  for (let from = 0; from < passages.length; from += EMBEDDED_AT_ONCE) {
    await breath();
    const some = passages.slice(from, from + EMBEDDED_AT_ONCE);
    const made = await embedder.embed(
      some.map(([, text]) => text),
      signal,
    );
    if (vectors.width === 0 || vectors.scales.length === 0)
      vectors = emptyBlock(owners.length, made[0]?.length ?? 0);
    for (const [index, vector] of made.entries()) putInBlock(vectors, some[index]?.[0] ?? 0, vector);
  }
  if (before !== undefined)
    for (const [to, from] of copied) copyInBlock(vectors, to, before.table.vectors, from);
  return { owners: Uint32Array.from(owners), vectors };
}

function rowsByOwner({ owners }: MeaningTable): Map<number, number[]> {
  const rows = new Map<number, number[]>();
  for (const [row, owner] of owners.entries()) push(rows, owner, row);
  return rows;
}

/** The likeness of each record to a question, at most 1, in the order of what was indexed. */
export type MeaningIndex = (question: string, signal?: AbortSignal) => Promise<Float64Array>;

export function meaningIndex(
  count: number,
  { owners, vectors }: MeaningTable,
  embedder: Embedder,
): MeaningIndex {
  const scan = nearScan(vectors.width);
  scan?.putBlock(vectors);
  return async (question, signal) => {
    const [asked = new Float32Array()] = await embedder.embed([question], signal);
    return byRecord(count, owners, scan?.near(asked, owners.length) ?? likenessesInBlock(vectors, asked));
  };
}

/** A record is as near as its nearest text, and a little as the next. */
function byRecord(count: number, owners: Uint32Array, alike: Float64Array | Float32Array): Float64Array {
  const nearest = new Float64Array(count).fill(NONE);
  const next = new Float64Array(count).fill(NONE);
  for (let index = 0; index < owners.length; index++) {
    const [at, like] = [owners[index] as number, alike[index] as number];
    if (like > (nearest[at] as number)) {
      next[at] = nearest[at] as number;
      nearest[at] = like;
    } else if (like > (next[at] as number)) next[at] = like;
  }
  for (let at = 0; at < count; at++) {
    const [first, second] = [nearest[at] as number, next[at] as number];
    nearest[at] = second === NONE ? Math.max(0, first) : first + (second - first) * SECOND_SHARE;
  }
  return nearest;
}

/** An agent's menu is about what it starts; it is a text of that, not of the agent. */
export function passagesOf({ record, fields }: RecordText): string[] {
  const heading = [...fields.name, ...fields.title].join(' ').replaceAll('-', ' ');
  const passages = [
    heading,
    [heading, ...fields.description].join(' '),
    ...fields.description.flatMap((text) => text.split(SENTENCE_END)),
    ...fields.role,
    ...fields['full name'],
    ...fields.name.flatMap(aboutAbbreviations),
    ...(record.kind === 'agent' ? [] : fields.menu),
    ...fields.help,
    ...fields.name.flatMap(wishesFor),
  ];
  return [...new Set(passages)].filter(({ length }) => length >= SHORTEST);
}

/**
 * What people wish for when they mean one of BMAD's workflows or agents and know none of its words: names, in whatever version,
 * then wishes in English and French. Only their meaning is compared, so that one stands for all that are like it; words are
 * the vocabulary's work.
 */
const wishes = new Map<string, readonly string[]>(
  table.flatMap((row) => row.names.map((name): [string, readonly string[]] => [name, row.wishes])),
);

/** What one wishes for who means the thing of this name, without `bmad-`; nothing for names that BMAD does not have. */
function wishesFor(name: string): readonly string[] {
  return wishes.get(name) ?? [];
}
