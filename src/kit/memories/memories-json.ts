import { join } from 'node:path';
import { isThereNow } from '../../base/files/file-stamps.ts';
import { t } from '../../base/text/message.ts';
import { jsonIn } from '../../base/parse/json.ts';
import { field, isTable, tableOf, textField } from '../../base/parse/parse.ts';
import { conflictReason, conflictsIn } from '../../base/text/diff.ts';
import { MEMORY_TYPES, type MemoryType } from '../../model/memory.ts';
import { textToRead } from '../kit-text.ts';
import { inProject, type Kit } from '../kit.ts';
import type { KitEntry } from './entry.ts';
import { texts } from '../museum/museum.ts';

export const MEMORIES_FILE = 'memories.json';

/** The list in the file, or why it cannot be used; an empty file is an empty list. Of a conflict, the entries of both sides. */
export function memoryTables(text: string): unknown[] | string {
  const conflicts = conflictsIn(text);
  if (conflicts === undefined) return tablesIn(text);
  const lists = conflicts.sides.map(tablesIn).filter((side) => typeof side !== 'string');
  if (lists.length < conflicts.sides.length) return conflictReason(conflicts);
  return [...new Map(lists.flat().map((entry) => [JSON.stringify(entry), entry])).values()];
}

/** Says where the list is kept once more, if the one in the project is gone or has become none. */
export async function keptList(kit: Kit, mirror: string | undefined): Promise<string[]> {
  const kept = join(mirror ?? '', MEMORIES_FILE);
  if (mirror === undefined || !isThereNow(kept)) return [];
  const text = (await textToRead(kit, MEMORIES_FILE, [])) ?? '';
  if (text.trim() !== '' && typeof memoryTables(text) !== 'string') return [];
  return [
    t`${inProject(kit, MEMORIES_FILE)} is gone or cannot be read. As it was before the last change, it is in ${kept}.`,
  ];
}

function tablesIn(text: string): unknown[] | string {
  if (text.trim() === '') return [];
  const value = jsonIn(text);
  if (value === undefined) return t`it is not valid JSON`;
  if (Array.isArray(value)) return value as unknown[];
  const inner = isTable(value) ? field(value, 'memories') : undefined;
  return Array.isArray(inner) ? (inner as unknown[]) : t`it is not a list`;
}

/** Entries in all the forms that the kit's programs have written over time. */
export function memoriesIn(tables: readonly unknown[], source: string): KitEntry[] {
  return tables.flatMap((value) => {
    if (!isTable(value)) return [];
    const meta = tableOf(field(value, 'metadata'));
    const either = (name: string): string | undefined => textField(meta, name) ?? textField(value, name);
    const text = textField(value, 'memory') ?? textField(value, 'text');
    if (text === undefined || text.trim() === '' || field(meta, 'superseded') === true) return [];
    const agent = either('agent') ?? '';
    const uuid = textField(meta, 'uuid');
    return [
      {
        type: typeOf(either('type'), agent),
        agent: agent || 'team',
        names: [agent || 'team'],
        text,
        tags: texts(field(meta, 'tags') ?? field(value, 'tags')),
        date: textField(value, 'created_at') ?? either('timestamp'),
        source,
        ...(uuid === undefined ? {} : { copyOf: uuid }),
      },
    ];
  });
}

/** What was added without a type is something an agent has learnt, if it was an agent. */
function typeOf(type: string | undefined, agent: string): MemoryType {
  const known = MEMORY_TYPES.find((name) => name === type);
  return known ?? (agent === '' ? 'shared-context' : 'agent-learnings');
}
