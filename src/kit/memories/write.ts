import { join } from 'node:path';
import { BmadError, expected } from '../../base/errors.ts';
import { mayPass } from '../../base/files/file-refusals.ts';
import { appendLine, replaceShared } from '../../base/files/file-shared.ts';
import { readState, writeAtomic } from '../../base/files/file-state.ts';
import { modifiedInside } from '../../base/files/files.ts';
import { field, isTable, tableOf } from '../../base/parse/parse.ts';
import { conflictReason, conflictsIn } from '../../base/text/diff.ts';
import { t } from '../../base/text/message.ts';
import { cut, localDay, localTime, oneLine, utcOf } from '../../base/text/text.ts';
import type { MemoryEntry, MemoryType } from '../../model/memory.ts';
import {
  addToSection,
  plainTitle,
  rowIn,
  bulletIn,
  struckText,
  asLine,
  inTurn,
  MAX_BYTES,
  textToChange,
} from '../text.ts';
import { inProject, type Kit, type KitWithMemory } from '../kit.ts';
import { languageOf, projectWording } from '../language.ts';
import { DECISIONS_FILE, MEMORIES_FILE, memoriesIn, memoryTables } from './entries.ts';
import { type KitAgent, learningsFileOf } from '../agents.ts';

/** An entry of a Markdown file is one line; the rest of a long text is in memories.json and in the store. */
const LINE_LENGTH = 1_000;

interface KitLines {
  kit: KitWithMemory;
  agents: readonly KitAgent[];
  /** The memories of a type that are neither forgotten nor superseded: a line may be the copy of several. */
  living(type: MemoryType): Promise<readonly MemoryEntry[]>;
}

/** What a memory says or said, as far as it decides about its line. */
export type Wording = Pick<MemoryEntry, 'text' | 'agent'>;

/** The file that has a line for a memory, as a path in the memory folder; most types have none. */
function lineFileOf(type: MemoryType, agent: string, agents: readonly KitAgent[]): string | undefined {
  if (type === 'agent-learnings') return learningsFileOf(agents, agent);
  return type === 'decisions' ? DECISIONS_FILE : undefined;
}

/** Everything that is not one space: nearly all that is between words is. */
const SPACES = /[^\S ]\s*| \s+/g;

/** A text as one line of a list, which is how it is found again. */
export function lineText(text: string): string {
  const line = text.replace(SPACES, ' ').trim();
  return line.length <= LINE_LENGTH ? line : `${cut(line, LINE_LENGTH - 1)}…`;
}

async function addLine(
  { kit, agents }: KitLines,
  path: string,
  { text, type, createdAt }: MemoryEntry,
): Promise<void> {
  const line = lineText(text);
  const known = (await textToChange(kit, path)) ?? '';
  const lines = known.split('\n');
  if (lines.some((other) => bulletIn(other)?.text === line)) return;
  const struck = lines.findLastIndex((other) => struckText(bulletIn(other)?.text ?? '') === line);
  if (struck >= 0) {
    const again = (lines[struck] ?? '').replace(`~~${line}~~`, () => line);
    await replaceShared(kit.memory, path, lines.with(struck, again).join('\n'));
    return;
  }
  const owner = path.replace(/^.*\/|\.md$/g, '');
  const id = agents.find(({ learnings }) => learnings === owner)?.id ?? owner;
  const header =
    type === 'decisions'
      ? '# Decisions Log\n\n'
      : `# Learnings — ${id}\n\n> ${(await projectWording(kit)).learnings}\n\n`;
  await appendLine(kit.memory, path, `- [${localDay(new Date(createdAt))}] ${line}`, header);
}

/**
 * Takes the lines of some wordings of a memory out of one file, a line for each. People write the same things into these
 * files: a line of another day, or without one, is not ours to remove.
 */
async function dropLines(
  files: KitLines,
  path: string,
  entry: MemoryEntry,
  wordings: readonly Wording[],
): Promise<boolean> {
  return changeLines(files, path, { entry, wordings, to: () => [] });
}

/** Strikes the line of a memory through that another one has replaced: it stays as a record. */
async function strikeLine(files: KitLines, path: string, entry: MemoryEntry): Promise<boolean> {
  // What was taken from a line has its day and no time: people wrote that line, and it stays as it is.
  if (utcOf(localDay(new Date(entry.createdAt))) === entry.createdAt) return false;
  const to = (line: string, text: string): string[] =>
    struckText(bulletIn(line)?.text ?? '') === undefined ? [line.replace(text, () => `~~${text}~~`)] : [line];
  return changeLines(files, path, { entry, wordings: [entry], to });
}

interface LineChange {
  entry: MemoryEntry;
  wordings: readonly Wording[];
  /** What comes in the place of a line with a text. */
  to(line: string, text: string): string[];
}

async function changeLines(
  { kit, agents, living }: KitLines,
  path: string,
  { entry: { id, type, createdAt }, wordings, to }: LineChange,
): Promise<boolean> {
  const known = await textToChange(kit, path);
  if (known === undefined) return false;
  const day = localDay(new Date(createdAt));
  let lines = known.split('\n');
  let others: readonly MemoryEntry[] | undefined;
  for (const wanted of new Set(wordings.map(({ text }) => lineText(text)))) {
    const at = lines.findLastIndex((line) => {
      const bullet = bulletIn(line);
      return bullet?.date === day && (bullet.text === wanted || struckText(bullet.text) === wanted);
    });
    if (at < 0) continue;
    others ??= await living(type);
    const isShared = others.some(
      (other) =>
        other.id !== id && lineText(other.text) === wanted && lineFileOf(type, other.agent, agents) === path,
    );
    if (!isShared) lines = lines.toSpliced(at, 1, ...to(lines[at] ?? '', wanted));
  }
  const next = lines.join('\n');
  if (next === known) return false;
  await replaceShared(kit.memory, path, next);
  return true;
}

function leftAlone(kit: Kit, path: string, reason: string): BmadError {
  return new BmadError('unavailable', t`${inProject(kit, path)} was left unchanged: ${reason}.`, {
    subject: path,
    hint: t`Repair the file, or move it elsewhere; the memory itself is kept.`,
  });
}

export interface KitWriting extends Omit<KitLines, 'kit'> {
  kit: Kit;
  /** The folder of the server's own files, where the lock is. */
  locks: string;
  /** The user's folder in which `memories.json` is kept once more, as it was before the last change. */
  mirror?: string | undefined;
}

export interface Written {
  /** Files that now have the memory, as paths from the top of the project. */
  files: string[];
  /** Files that could not be written, and why. */
  problems: string[];
  /** Whether all was tried; not where others kept the files for too long, or the disk failed and may work again. */
  complete: boolean;
}

/**
 * Writes a memory where the project's own tools look for it. Existing lines are not written twice, so that repeating it
 * after a crash completes the work. `earlier` is everything that the memory has said before: a line for any of it may
 * still exist.
 */
export async function writeKitFiles(
  writing: KitWriting,
  entry: MemoryEntry,
  { earlier = [], mode }: { earlier?: readonly Wording[]; mode?: 'semantic' | 'local' | undefined },
): Promise<Written> {
  return inFiles(writing, async (inside, attempt) => {
    const path = lineFileOf(entry.type, entry.agent, writing.agents);
    if (path !== undefined) {
      const own = lineText(entry.text);
      const quietly: Attempt = (name, work) => attempt(name, async () => (await work(), false));
      const stays: Stays = (place, line) => place === path && line === own;
      await dropEarlier(inside, entry, earlier, quietly, stays);
      await attempt(path, () => addLine(inside, path, entry));
    }
    await attempt(MEMORIES_FILE, () => keepInJson(inside, entry, earlier));
    if (mode === undefined) return;
    const { agent, text: query, type } = entry;
    await attempt(ACTIVITY_FILE, async () => {
      await logActivity(inside.kit.memory, { cmd: 'remember', agent, mode, query, type });
      return false;
    });
  });
}

interface Removal {
  earlier?: readonly Wording[];
  /** It was superseded: its line stays, struck through, and so does what the kit wrote itself, with a mark. */
  keepLine?: boolean;
  /** The memory that has replaced it. */
  by?: MemoryEntry | undefined;
  /** Its text goes from the copy of `memories.json`, too. */
  forGood?: boolean;
}

/** Takes a memory out of those files again; only what we wrote. */
export async function removeFromKitFiles(
  writing: KitWriting,
  entry: MemoryEntry,
  { earlier = [], keepLine = false, by, forGood = false }: Removal = {},
): Promise<Written> {
  return inFiles(writing, async (inside, attempt) => {
    const own = lineText(entry.text);
    const wordings = keepLine ? earlier : [entry, ...earlier];
    await dropEarlier(inside, entry, wordings, attempt, (_, line) => keepLine && line === own);
    // Learnings are an agent's own notes, which it reads as it wrote them.
    if (keepLine && entry.type === 'decisions')
      await attempt(DECISIONS_FILE, () => strikeLine(inside, DECISIONS_FILE, entry));
    await attempt(MEMORIES_FILE, () => dropFromJson(inside, entry, keepLine));
    if (forGood) await attempt(MEMORIES_FILE, () => dropFromMirror(inside, entry));
    if (by !== undefined)
      await attempt(CONTRADICTIONS_FILE, () => logReplaced(inside.kit, { before: entry, by }));
  });
}

/** The writing of a project that has a memory folder. */
type Inside = KitWriting & KitLines;

/** Work on one file; it answers `false` if the memory's place in it has not changed. */
type Attempt = (name: string, work: () => Promise<boolean | void>) => Promise<void>;

type Stays = (path: string, line: string) => boolean;

async function inFiles(
  writing: KitWriting,
  work: (inside: Inside, attempt: Attempt) => Promise<void>,
): Promise<Written> {
  const { kit } = writing;
  const { memory } = kit;
  const files: string[] = [];
  const problems: string[] = [];
  let later = false;
  if (memory === undefined) return { files, problems, complete: true };
  // A problem with one file is not a reason to leave the copy in the other.
  const attempt: Attempt = async (name, one) => {
    try {
      if ((await one()) !== false) files.push(inProject(kit, name));
    } catch (error) {
      if (!(error instanceof BmadError)) throw error;
      if (!problems.includes(error.message)) problems.push(error.message);
      later ||= mayPass(error);
    }
  };
  // The memory itself is already stored; files that cannot be written are reported, and written by the next attempt.
  const complete = await inTurn(writing.locks, () =>
    work({ ...writing, kit: { ...kit, memory } }, attempt),
  ).then(
    () => !later,
    expected(({ message }) => {
      problems.push(message);
      return false;
    }),
  );
  return { files: [...new Set(files)], problems, complete };
}

async function dropEarlier(
  writing: Inside,
  entry: MemoryEntry,
  wordings: readonly Wording[],
  attempt: Attempt,
  stays: Stays,
): Promise<void> {
  const byFile = new Map<string, Wording[]>();
  for (const wording of wordings) {
    const path = lineFileOf(entry.type, wording.agent, writing.agents);
    if (path === undefined || stays(path, lineText(wording.text))) continue;
    byFile.set(path, [...(byFile.get(path) ?? []), wording]);
  }
  for (const [path, some] of byFile) await attempt(path, () => dropLines(writing, path, entry, some));
}

/** Only a bare list can be written back as it was: around one in an object there may be more that is not ours. */
function listIn(kit: Kit, text: string): unknown[] {
  const conflicts = conflictsIn(text);
  // Whoever resolves them decides what the file is to say.
  const read = conflicts === undefined ? memoryTables(text) : conflictReason(conflicts);
  const tables = Array.isArray(read) && /^\s*\{/.test(text) ? t`its format is not recognized` : read;
  if (typeof tables === 'string') throw leftAlone(kit, MEMORIES_FILE, tables);
  return tables;
}

/** The file is also rewritten as a whole by its other users; one that cannot be parsed is left unchanged. */
async function keepInJson(writing: Inside, entry: MemoryEntry, earlier: readonly Wording[]): Promise<void> {
  const { kit } = writing;
  const text = (await textToChange(kit, MEMORIES_FILE)) ?? '';
  const tables = listIn(kit, text);
  const copy = tables.findIndex((table) => isCopyOf(table, entry));
  // What the kit wrote itself has no such id; it is what the memory said before it was changed.
  const at = copy < 0 ? tables.findIndex((table) => isOriginal(table, entry.type, earlier)) : copy;
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
  await replaceJson(writing, text, next);
}

/**
 * The file as it was is kept first, out of the reach of git and of other programs. One without entries is not: it may have
 * lost them, and what is kept of it is all there is then.
 */
async function replaceJson({ kit, mirror }: Inside, text: string, next: readonly unknown[]): Promise<void> {
  await replaceShared(kit.memory, MEMORIES_FILE, JSON.stringify(next, null, 2), async () => {
    if (mirror !== undefined && listIn(kit, text).length > 0)
      await writeAtomic(join(mirror, MEMORIES_FILE), text);
  });
}

const isCopyOf = (table: unknown, { id, type }: MemoryEntry): boolean =>
  uuidOf(table) === id && typeIn(table) === type;

/** What was removed for good is not kept either. */
async function dropFromMirror({ kit, mirror }: KitWriting, entry: MemoryEntry): Promise<false> {
  const path = join(mirror ?? '', MEMORIES_FILE);
  const text = mirror === undefined ? '' : ((await readState(path, { maxBytes: MAX_BYTES })) ?? '');
  if (!text.includes(entry.id)) return false;
  const rest = listIn(kit, text).filter((table) => !isCopyOf(table, entry));
  await writeAtomic(path, JSON.stringify(rest, null, 2));
  return false;
}

/** Our copy goes. What the kit wrote itself is marked as superseded in its own words, and otherwise left as it is. */
async function dropFromJson(writing: Inside, entry: MemoryEntry, marks: boolean): Promise<boolean> {
  const { kit } = writing;
  const text = (await textToChange(kit, MEMORIES_FILE)) ?? '';
  // A file that does not have it needs no change, whatever its form.
  const beginning = JSON.stringify(entry.text.slice(0, 40)).slice(1, -1);
  if (!text.includes(entry.id) && !(marks && text.includes(beginning))) return false;
  const tables = listIn(kit, text);
  const rest = tables
    .filter((table) => !isCopyOf(table, entry))
    .map((table) => (marks && isOriginal(table, entry.type, [entry]) ? superseded(table, entry) : table));
  if (rest.length === tables.length && rest.every((table, index) => table === tables[index])) return false;
  await replaceJson(writing, text, rest);
  return true;
}

/** Whether the kit has written one of these wordings here itself. */
function isOriginal(table: unknown, wanted: MemoryType, wordings: readonly Wording[]): boolean {
  if (uuidOf(table) !== undefined || wordings.length === 0) return false;
  return memoriesIn([table], '').some(
    ({ type, text, agent }) =>
      type === wanted &&
      wordings.some((each) => each.agent === agent && lineText(each.text) === lineText(text)),
  );
}

function superseded(table: unknown, { supersededAt = '', supersededBy }: MemoryEntry): unknown {
  const whole = tableOf(table);
  const metadata = {
    ...tableOf(field(whole, 'metadata')),
    superseded: true,
    ...(supersededBy === undefined ? {} : { superseded_by: supersededBy }),
    superseded_at: localTime(new Date(supersededAt)),
  };
  return { ...whole, metadata };
}

function nextNumber(tables: readonly unknown[]): number {
  const numbers = tables.map((table) => (isTable(table) ? Number(field(table, 'id')) : 0));
  return Math.max(tables.length, ...numbers.filter(Number.isSafeInteger)) + 1;
}

function metaOf(table: unknown, name: string): unknown {
  return field(tableOf(field(tableOf(table), 'metadata')), name);
}

const uuidOf = (table: unknown): unknown => metaOf(table, 'uuid');
const typeIn = (table: unknown): unknown => metaOf(table, 'type');

/** Where the kit records which of two memories that contradict each other was kept. Only a project that has it gets rows. */
const CONTRADICTIONS_FILE = 'contradiction-log.md';
const CELL = 160;

/** A memory that another one has replaced. */
interface Replaced {
  before: MemoryEntry;
  by: MemoryEntry;
}

const isResolved = (title: string): boolean =>
  /contradictions? (?:resolues?|resolved)|resolved contradictions?/.test(plainTitle(title));

/** Adds the row that says so; false where there is no place for it, or it is there already. */
async function logReplaced(kit: KitWithMemory, { before, by }: Replaced): Promise<boolean> {
  const text = await textToChange(kit, CONTRADICTIONS_FILE);
  if (text === undefined) return false;
  const words = languageOf(text, await projectWording(kit)).contradictions;
  const cell = (said: string): string => oneLine(asLine(said), CELL).replaceAll('|', String.raw`\|`);
  const subject = cell(before.text);
  const action = cell(`${words.replacedBy} ${by.text}`);
  // Noticed and settled in one: nothing is written while a contradiction is only a hint.
  const day = localDay(new Date(before.supersededAt ?? by.createdAt));
  const row = `| ${day} | ${day} | ${cell(by.agent)} | ${subject} | ${action} |`;
  // Completing the work after a crash comes here twice, perhaps on another day.
  if (text.includes(`| ${subject} | ${action} |`)) return false;
  const next = addToSection(text, ({ title }) => isResolved(title), [row], {
    gap: false,
    placeholder: {
      is: (line) => rowIn(line)?.every((part) => /^[—–-]?$/.test(part)) === true,
      mayBeIn: () => true,
    },
  });
  if (next === undefined) return false;
  await replaceShared(kit.memory, CONTRADICTIONS_FILE, next);
  return true;
}

export const ACTIVITY_FILE = 'activity.jsonl';
const QUERY_LENGTH = 80;

/** A line of the kit's log of what was done with its memory, without the time. */
interface Activity {
  cmd: 'remember' | 'recall';
  agent: string;
  mode: 'semantic' | 'local';
  query: string;
  [more: string]: string | number;
}

export async function hasActivity(memory: string): Promise<boolean> {
  return (await modifiedInside(memory, ACTIVITY_FILE)) !== undefined;
}

export async function logActivity(
  memory: string,
  { cmd, agent, mode, query, ...more }: Activity,
): Promise<void> {
  const ts = localTime(new Date());
  const asked = cut(query.replace(/\s+/g, ' '), QUERY_LENGTH);
  await appendLine(memory, ACTIVITY_FILE, JSON.stringify({ ts, cmd, agent, mode, query: asked, ...more }));
}
