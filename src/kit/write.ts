import { BmadError } from '../base/errors.ts';
import { appendLine, replaceShared } from '../base/file-shared.ts';
import { readInside } from '../base/files.ts';
import { field, isTable } from '../base/parse.ts';
import { cut } from '../base/text.ts';
import type { MemoryEntry, MemoryType } from '../model/memory.ts';
import { localDay, localTime } from '../base/local-time.ts';
import type { KitAgent } from './agents.ts';
import { DECISIONS_FILE } from './decisions.ts';
import { inProject, type Kit } from './kit.ts';
import { inTurn } from './kit-lock.ts';
import { learningsFileOf } from './learnings.ts';
import { bulletIn } from './markdown.ts';
import { MEMORIES_FILE, memoryTables } from './memories-json.ts';
import { utf8Text } from './utf8.ts';

const ACTIVITY_FILE = 'activity.jsonl';
const LOCK_WAIT_MS = 10_000;
const MAX_BYTES = 20_000_000;
/** An entry of a Markdown file is one line; the rest of a long text is in memories.json and in the store. */
const LINE_LENGTH = 1_000;

export interface KitWriting {
  kit: Kit;
  agents: readonly KitAgent[];
  /** The folder of our own files, where the lock is. */
  locks: string;
  /** The memories of a type that are neither forgotten nor superseded: a line may be the copy of several. */
  living?: ((type: MemoryType) => Promise<readonly MemoryEntry[]>) | undefined;
}

export interface Written {
  /** Files that now have the memory, as paths from the top of the project. */
  files: string[];
  /** Files that could not be written, and why. */
  problems: string[];
}

/**
 * Puts a memory where the project's own tools look for it. What is there already is not written twice, so that doing it
 * again after a crash completes what was begun. `before` is the wording that the memory had until now.
 */
export async function writeKitFiles(
  writing: KitWriting,
  entry: MemoryEntry,
  { before, mode }: { before?: MemoryEntry | undefined; mode: 'semantic' | 'local' },
): Promise<Written> {
  const { kit, agents } = writing;
  const { memory } = kit;
  if (memory === undefined) return { files: [], problems: [] };
  const path = lineFileOf(entry, agents);
  const files: string[] = [];
  const problems: string[] = [];
  const attempt = async (name: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      if (name !== ACTIVITY_FILE) files.push(inProject(kit, name));
    } catch (error) {
      if (!(error instanceof BmadError)) throw error;
      problems.push(error.message);
    }
  };
  await locked(writing, problems, async () => {
    if (path !== undefined)
      await attempt(path, async () => {
        const old = before === undefined ? undefined : lineFileOf(before, agents);
        if (before !== undefined && old !== undefined && (old !== path || before.text !== entry.text))
          await dropLine(writing, memory, old, before);
        await addLine(writing, memory, path, entry);
      });
    await attempt(MEMORIES_FILE, () => keepInJson(kit, memory, entry));
    await attempt(ACTIVITY_FILE, () =>
      appendLine(
        memory,
        ACTIVITY_FILE,
        JSON.stringify({
          ts: localTime(new Date()),
          cmd: 'remember',
          agent: entry.agent,
          mode,
          query: cut(entry.text.replace(/\s+/g, ' '), 80),
          type: entry.type,
        }),
      ),
    );
  });
  return { files, problems };
}

/** Takes a memory out of those files again; only what we wrote. A superseded one keeps its line, as a record. */
export async function removeFromKitFiles(
  writing: KitWriting,
  entry: MemoryEntry,
  { keepLine = false }: { keepLine?: boolean } = {},
): Promise<Written> {
  const { kit, agents } = writing;
  const { memory } = kit;
  if (memory === undefined) return { files: [], problems: [] };
  const files: string[] = [];
  const problems: string[] = [];
  const path = keepLine ? undefined : lineFileOf(entry, agents);
  // What is wrong with one file is no reason to leave the copy in the other.
  const attempt = async (name: string, work: () => Promise<boolean>): Promise<void> => {
    try {
      if (await work()) files.push(inProject(kit, name));
    } catch (error) {
      if (!(error instanceof BmadError)) throw error;
      problems.push(error.message);
    }
  };
  await locked(writing, problems, async () => {
    if (path !== undefined) await attempt(path, () => dropLine(writing, memory, path, entry));
    await attempt(MEMORIES_FILE, () => dropFromJson(kit, memory, entry));
  });
  return { files, problems };
}

/** The memory itself is kept already; files that cannot be written are told, and written by the next attempt. */
async function locked({ locks }: KitWriting, problems: string[], work: () => Promise<void>): Promise<void> {
  try {
    await inTurn(locks, LOCK_WAIT_MS, work);
  } catch (error) {
    if (!(error instanceof BmadError)) throw error;
    problems.push(error.message);
  }
}

function lineFileOf({ type, agent }: MemoryEntry, agents: readonly KitAgent[]): string | undefined {
  if (type === 'agent-learnings') return learningsFileOf(agents, agent);
  return type === 'decisions' ? DECISIONS_FILE : undefined;
}

/** A text as one line of a list, which is how it is found again. */
export function lineText(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= LINE_LENGTH ? line : `${cut(line, LINE_LENGTH - 1)}…`;
}

async function addLine(
  { kit, agents }: KitWriting,
  memory: string,
  path: string,
  { text, type, createdAt }: MemoryEntry,
): Promise<void> {
  const line = lineText(text);
  const known = (await fileText(kit, memory, path)) ?? '';
  if (known.split('\n').some((other) => bulletIn(other)?.text === line)) return;
  const owner = path.replace(/^.*\/|\.md$/g, '');
  const id = agents.find(({ learnings }) => learnings === owner)?.id ?? owner;
  const header =
    type === 'decisions'
      ? '# Decisions Log\n\n'
      : `# Learnings — ${id}\n\n> Apprentissages accumulés par cet agent.\n\n`;
  await appendLine(memory, path, `- [${localDay(new Date(createdAt))}] ${line}`, header);
}

/** People write the same things into these files: a line of another day, or without one, is not ours to remove. */
async function dropLine(
  { kit, agents, living }: KitWriting,
  memory: string,
  path: string,
  entry: MemoryEntry,
): Promise<boolean> {
  const known = await fileText(kit, memory, path);
  if (known === undefined) return false;
  const wanted = lineText(entry.text);
  const day = localDay(new Date(entry.createdAt));
  const lines = known.split('\n');
  const at = lines.findLastIndex((line) => {
    const bullet = bulletIn(line);
    return bullet?.text === wanted && bullet.date === day;
  });
  if (at < 0) return false;
  const others = (await living?.(entry.type)) ?? [];
  const isShared = others.some(
    (other) => other.id !== entry.id && lineText(other.text) === wanted && lineFileOf(other, agents) === path,
  );
  if (isShared) return false;
  await replaceShared(memory, path, lines.toSpliced(at, 1).join('\n'));
  return true;
}

/** Only a bare list can be written back as it was: around one in an object there may be more that is not ours. */
function listIn(kit: Kit, text: string): unknown[] {
  const tables = /^\s*\{/.test(text) ? 'it has a form of its own' : memoryTables(text);
  if (typeof tables === 'string') throw leftAlone(kit, MEMORIES_FILE, tables);
  return tables;
}

/** The file is rewritten whole by its other users too; one that cannot be understood is left as it is. */
async function keepInJson(kit: Kit, memory: string, entry: MemoryEntry): Promise<void> {
  const tables = listIn(kit, (await fileText(kit, memory, MEMORIES_FILE)) ?? '');
  const at = tables.findIndex((table) => uuidOf(table) === entry.id && typeIn(table) === entry.type);
  const known = tables[at];
  const fresh = {
    id: isTable(known) ? field(known, 'id') : nextNumber(tables),
    memory: entry.text,
    user_id: kit.user,
    metadata: { agent: entry.agent, type: entry.type, tags: entry.tags, uuid: entry.id },
    created_at: localTime(new Date(entry.createdAt)),
  };
  if (JSON.stringify(known) === JSON.stringify(fresh)) return;
  const next = at < 0 ? [...tables, fresh] : tables.with(at, fresh);
  await replaceShared(memory, MEMORIES_FILE, JSON.stringify(next, null, 2));
}

async function dropFromJson(kit: Kit, memory: string, entry: MemoryEntry): Promise<boolean> {
  const text = (await fileText(kit, memory, MEMORIES_FILE)) ?? '';
  // A file that does not have it needs no change, whatever its form.
  if (!text.includes(entry.id)) return false;
  const tables = listIn(kit, text);
  const rest = tables.filter((table) => uuidOf(table) !== entry.id || typeIn(table) !== entry.type);
  if (rest.length === tables.length) return false;
  await replaceShared(memory, MEMORIES_FILE, JSON.stringify(rest, null, 2));
  return true;
}

function nextNumber(tables: readonly unknown[]): number {
  const numbers = tables.map((table) => (isTable(table) ? Number(field(table, 'id')) : 0));
  return Math.max(tables.length, ...numbers.filter(Number.isSafeInteger)) + 1;
}

function metaOf(table: unknown, name: string): unknown {
  const meta = isTable(table) ? field(table, 'metadata') : undefined;
  return isTable(meta) ? field(meta, name) : undefined;
}
const uuidOf = (table: unknown): unknown => metaOf(table, 'uuid');
const typeIn = (table: unknown): unknown => metaOf(table, 'type');

async function fileText(kit: Kit, memory: string, path: string): Promise<string | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readInside(memory, path, MAX_BYTES);
  } catch (error) {
    if (error instanceof BmadError && error.code === 'not_found') return undefined;
    throw error;
  }
  const text = utf8Text(bytes);
  if (text === undefined) throw leftAlone(kit, path, 'it is not UTF-8');
  return text;
}

function leftAlone(kit: Kit, path: string, reason: string): BmadError {
  return new BmadError('unavailable', `${inProject(kit, path)} is left as it is: ${reason}.`, {
    subject: path,
    hint: 'Repair the file, or move it away; the memory itself is kept.',
  });
}
