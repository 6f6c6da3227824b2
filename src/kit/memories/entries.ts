import { join } from 'node:path';
import { isThereNow } from '../../base/files/file-stamps.ts';
import { jsonIn } from '../../base/parse/json.ts';
import { field, isTable, tableOf, textField } from '../../base/parse/parse.ts';
import { conflictReason, conflictsIn } from '../../base/text/diff.ts';
import { sectionsOf, withoutExamples } from '../../base/text/markdown.ts';
import { t } from '../../base/text/message.ts';
import { MEMORY_TYPES, type MemoryType } from '../../model/memory.ts';
import { textToRead, isUnset } from '../text.ts';
import { inProject, type Kit } from '../kit.ts';
import { createHash } from 'node:crypto';

export const DECISIONS_FILE = 'decisions-log.md';

/** Something worth recalling in a file of the project. */
export interface KitEntry {
  type: MemoryType;
  agent: string;
  /** The agent under all its names. */
  names: readonly string[];
  text: string;
  tags: readonly string[];
  /** A day, or a moment without a zone, as the file has it. */
  date?: string | undefined;
  /** The file, as a path from the top of the project. */
  source: string;
  line?: number | undefined;
  /** The id of the memory that the entry is a copy of, where the file says so. */
  copyOf?: string | undefined;
  /** `FM-001`, where the file numbers what it has. */
  number?: string | undefined;
}

export interface KitReading {
  entries: KitEntry[];
  problems: string[];
}

/** The texts of a list; nothing else in it counts. */
export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

export const SHARED_CONTEXT_FILE = 'shared-context.md';

/** What is wrong with a page that has nothing at all: every install writes its headings. */
export function emptyPage(text: string, source: string): string[] {
  return text.trim() === '' ? [t`${source} is empty, probably because a write was interrupted.`] : [];
}

/** The sections of the shared context that have been filled in. */
export function sharedContextIn(text: string, source: string): KitEntry[] {
  return sectionsOf(withoutExamples(text)).flatMap(({ level, title, line, body }) => {
    const told = body.map((part) => part.trim()).filter((part) => part !== '' && !isUnset(part));
    const content = told.filter((part) => !/^-{3,}$|^\|[\s|:-]*$/.test(part));
    if (level < 2 || content.length === 0) return [];
    return [
      {
        type: 'shared-context' as const,
        agent: 'project',
        names: ['project'],
        text: [title, ...content].join('\n'),
        tags: [],
        source,
        line,
      },
    ];
  });
}

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
  // A project without the kit's folder needs no such list: its memories are lines.
  if (kit.keptWith !== undefined || mirror === undefined || !isThereNow(kept)) return [];
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

/** The namespace of RFC 4122 for names of the DNS, which the ids of memories have been made in from the start. */
const NAMESPACE = Buffer.from('6ba7b8109dad11d180b400c04fd430c8', 'hex');

/** How much of a text determines its id, in code points: a text with the same beginning is a new version. */
const ID_LENGTH = 150;

const PAIRS = /[\uD800-\uDFFF]/;

/** The id of a memory: the same project, agent and beginning of the text give the same id, on every machine. */
export function memoryId(app: string, agent: string, text: string): string {
  return uuid5(memoryName(app, agent, text));
}

/** What an id is made of. */
export function memoryName(app: string, agent: string, text: string): string {
  const units = text.slice(0, 2 * ID_LENGTH);
  // Hardly any text has characters of two units, and to take thousands of them apart takes long.
  const beginning = PAIRS.test(units)
    ? Array.from(units).slice(0, ID_LENGTH).join('')
    : units.slice(0, ID_LENGTH);
  return `${app}:${agent}:${beginning}`;
}

/** For a text in a file whose beginning another one there has too: from its place and the whole of it. */
export function placeId(app: string, agent: string, source: string, text: string): string {
  return uuid5(`${app}:${agent}:${source}:${text}`);
}

function uuid5(name: string): string {
  const hash = createHash('sha1').update(NAMESPACE).update(name, 'utf8').digest().subarray(0, 16);
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
