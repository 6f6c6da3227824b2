import { t } from '../../base/text/message.ts';
import { BmadError } from '../../base/errors.ts';
import { appendLine, replaceShared } from '../../base/files/file-shared.ts';
import { cut, localDay, utcOf } from '../../base/text/text.ts';
import type { MemoryEntry, MemoryType } from '../../model/memory.ts';
import type { KitAgent } from '../agents.ts';
import { DECISIONS_FILE } from './entries.ts';
import { textToChange } from '../kit-text.ts';
import { inProject, type Kit, type KitWithMemory } from '../kit.ts';
import { bulletIn, struckText } from '../markdown.ts';
import { projectWording } from '../language.ts';
import { learningsFileOf } from './learnings.ts';

/** An entry of a Markdown file is one line; the rest of a long text is in memories.json and in the store. */
const LINE_LENGTH = 1_000;

export interface KitLines {
  kit: KitWithMemory;
  agents: readonly KitAgent[];
  /** The memories of a type that are neither forgotten nor superseded: a line may be the copy of several. */
  living(type: MemoryType): Promise<readonly MemoryEntry[]>;
}

/** What a memory says or said, as far as it decides about its line. */
export type Wording = Pick<MemoryEntry, 'text' | 'agent'>;

/** The file that has a line for a memory, as a path in the memory folder; most types have none. */
export function lineFileOf(type: MemoryType, agent: string, agents: readonly KitAgent[]): string | undefined {
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

export async function addLine(
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
export async function dropLines(
  files: KitLines,
  path: string,
  entry: MemoryEntry,
  wordings: readonly Wording[],
): Promise<boolean> {
  return changeLines(files, path, { entry, wordings, to: () => [] });
}

/** Strikes the line of a memory through that another one has replaced: it stays as a record. */
export async function strikeLine(files: KitLines, path: string, entry: MemoryEntry): Promise<boolean> {
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

export function leftAlone(kit: Kit, path: string, reason: string): BmadError {
  return new BmadError('unavailable', t`${inProject(kit, path)} was left unchanged: ${reason}.`, {
    subject: path,
    hint: t`Repair the file, or move it elsewhere; the memory itself is kept.`,
  });
}
