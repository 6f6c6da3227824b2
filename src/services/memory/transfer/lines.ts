import { field, isTable, textField, type Table } from '../../../base/parse.ts';
import { MEMORY_TYPES, type MemoryEntry } from '../../../model/memory.ts';
import { texts } from '../kit-files/failures.ts';
import { localTime } from '../local-time.ts';
import type { Incoming } from './markdown.ts';

/** One memory a line: the fields that the kit's own payloads have, and those that only we have after them. */
export function toLines(entries: readonly MemoryEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(tableOf(entry))}\n`).join('');
}

function tableOf(entry: MemoryEntry): Record<string, unknown> {
  const { id, text, agent, type, tags, project, createdAt, updatedAt } = entry;
  return {
    id,
    text,
    agent,
    type,
    tags,
    project,
    created_at: localTime(new Date(createdAt)),
    created_at_utc: createdAt,
    updated_at_utc: updatedAt,
    ...(entry.supersededAt === undefined ? {} : { superseded_at_utc: entry.supersededAt }),
    ...(entry.supersededBy === undefined ? {} : { superseded_by: entry.supersededBy }),
    ...(entry.forgottenAt === undefined ? {} : { forgotten_at_utc: entry.forgottenAt }),
  };
}

/** JSON in any of its forms here: a list, or one object a line. Nothing when it is no JSON. */
export function fromJson(text: string): { found: Incoming[]; wrong: number } | undefined {
  const trimmed = text.trimStart();
  if (!/^[[{]/.test(trimmed)) return undefined;
  const whole = parsed(text);
  const values =
    whole === undefined
      ? text
          .split('\n')
          .filter((line) => line.trim() !== '')
          .map(parsed)
      : [whole];
  const list = values.length === 1 && Array.isArray(values[0]) ? (values[0] as unknown[]) : values;
  const found = list.map((value) => (isTable(value) ? incoming(value) : undefined));
  const right = found.filter((value) => value !== undefined);
  return { found: right, wrong: found.length - right.length };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function incoming(table: Table): Incoming | undefined {
  // A point of Qdrant has its fields in a payload, an entry of memories.json some of them in its metadata.
  const inner = ['payload', 'metadata'].map((name) => field(table, name)).filter(isTable);
  const places = [table, ...inner];
  const text = (name: string): string | undefined =>
    places.map((place) => textField(place, name)).find((value) => value !== undefined);
  const content = text('text') ?? text('memory');
  if (content === undefined || text('forgotten_at_utc') !== undefined) return undefined;
  const type = text('type');
  return {
    type: MEMORY_TYPES.find((known) => known === type),
    agent: text('agent'),
    text: content,
    tags: texts(places.map((place) => field(place, 'tags')).find(Array.isArray)),
    date: text('created_at_utc') ?? text('created_at') ?? text('timestamp'),
  };
}
