import type { Schemas } from '@qdrant/js-client-rest';
import type { MemoryEntry, MemoryRevision, MemoryType } from '../../../model/memory.ts';
import type { Stored } from '../engine.ts';
import { type ReadyFilter, termsOf } from '../rank.ts';
import type { Analyser } from '../../../meaning/analyse.ts';

export const INDEXES: Record<string, 'keyword' | 'datetime' | 'integer'> = {
  agent: 'keyword',
  type: 'keyword',
  tags: 'keyword',
  created_at: 'datetime',
  updated_at: 'datetime',
  changed_at: 'datetime',
  forgotten_at: 'datetime',
  superseded_at: 'datetime',
  terms: 'keyword',
  analyser: 'keyword',
  embedder: 'keyword',
  change_id: 'keyword',
  revision: 'integer',
};

/** The first six keys are those of BMAD's own memory; its readers ignore the others. */
export function payloadOf({ entry, revisions }: Stored, analyser: Analyser, changeId: string) {
  return {
    text: entry.text,
    agent: entry.agent,
    type: entry.type,
    tags: entry.tags,
    project: entry.project,
    created_at: entry.createdAt,
    updated_at: entry.updatedAt,
    revision: entry.revision,
    revisions,
    forgotten_at: entry.forgottenAt ?? null,
    superseded: entry.supersededAt !== undefined,
    superseded_by: entry.supersededBy ?? null,
    superseded_at: entry.supersededAt ?? null,
    /** Analysed words, and by which analyser. */
    terms: termsOf(analyser, entry),
    analyser: analyser.id,
    /** Identifies one write: a writer that finds another one here knows that another process was faster. */
    change_id: changeId,
    changed_at: new Date().toISOString(),
  };
}

/**
 * `lines` has the write that it came with and the lines that nothing followed then. `embedder` is the space of the vector, empty
 * for a memory that waits for one, and says so only where a vector is written.
 */
export type RawPayload = Partial<Record<keyof ReturnType<typeof payloadOf> | 'lines' | 'embedder', unknown>>;

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Times without a zone are taken as the server takes them when it sorts: as UTC. */
function timeOf(value: unknown): string | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  const time = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  return Number.isFinite(time) ? new Date(time).toISOString() : undefined;
}

/** A memory from a point; BMAD's own tools write points with fewer keys. */
export function storedOf(id: string, type: MemoryType, payload: RawPayload): Stored {
  const createdAt = timeOf(payload.created_at) ?? new Date(0).toISOString();
  const forgottenAt = timeOf(payload.forgotten_at);
  const supersededAt = timeOf(payload.superseded_at) ?? (payload.superseded === true ? createdAt : undefined);
  const supersededBy = textOf(payload.superseded_by);
  const entry: MemoryEntry = {
    id,
    type,
    agent: textOf(payload.agent) ?? '',
    text: textOf(payload.text) ?? '',
    tags: Array.isArray(payload.tags) ? payload.tags.filter((tag) => typeof tag === 'string') : [],
    project: textOf(payload.project) ?? '',
    createdAt,
    updatedAt: timeOf(payload.updated_at) ?? createdAt,
    revision: typeof payload.revision === 'number' ? payload.revision : 1,
    ...(forgottenAt === undefined ? {} : { forgottenAt }),
    ...(supersededBy === undefined ? {} : { supersededBy }),
    ...(supersededAt === undefined ? {} : { supersededAt }),
  };
  return {
    entry,
    revisions: Array.isArray(payload.revisions) ? (payload.revisions as MemoryRevision[]) : [],
  };
}

export type Filter = Schemas['Filter'];
export type Condition = Schemas['Condition'];

export const anyOf = (key: string, values: Iterable<string>): Condition => ({
  key,
  match: { any: [...values] },
});
export const equal = (key: string, value: string | number): Condition => ({ key, match: { value } });
export const empty = (key: string): Condition => ({ is_empty: { key } });

/** BMAD's own tools write letters as they come. */
const bothForms = (text: string): string[] => [text.normalize('NFC'), text.normalize('NFD')];

/**
 * The server compares names letter by letter, and to ask it how they are spelled would take a request to each collection: it
 * is asked for the ways in which names are written.
 */
function spellings(key: string): string[] {
  const capital = (text: string): string => text.replace(/^\p{L}/u, (letter) => letter.toUpperCase());
  const each = key.replace(/\p{L}+/gu, capital);
  return [...new Set([key, key.toUpperCase(), capital(key), each].flatMap(bothForms))];
}

/** The filter as conditions that all have to hold. Types are collections, so they are not among them. */
export function conditions(filter: ReadyFilter): Condition[] {
  const must: Condition[] = [];
  if (filter.agents !== undefined) must.push(anyOf('agent', [...filter.agents].flatMap(spellings)));
  for (const tag of filter.tagsAll) must.push(anyOf('tags', bothForms(tag)));
  if (filter.since !== undefined || filter.until !== undefined) {
    const range = {
      ...(filter.since === undefined ? {} : { gte: filter.since }),
      ...(filter.until === undefined ? {} : { lte: filter.until }),
    };
    // Points of BMAD's own tools have no time of change.
    must.push({
      should: [{ key: 'updated_at', range }, { must: [empty('updated_at'), { key: 'created_at', range }] }],
    });
  }
  if (!filter.superseded) must.push(empty('superseded_at'));
  if (!filter.forgotten) must.push(empty('forgotten_at'));
  return must;
}

/** Memories that were reworded, forgotten or superseded. */
export const CHANGED: Filter = {
  should: [
    { key: 'revision', range: { gt: 1 } },
    { must_not: [empty('forgotten_at')] },
    { must_not: [empty('superseded_at')] },
  ],
};
