import { replaceShared } from '../../base/files/file-shared.ts';
import { localDay } from '../../base/text/local-time.ts';
import { oneLine } from '../../base/text/text.ts';
import type { MemoryEntry } from '../../model/memory.ts';
import { addToSection } from '../insert.ts';
import type { Kit } from '../kit.ts';
import { asLine } from '../kit-text.ts';
import { languageOf } from '../language.ts';
import { plainTitle, rowIn } from '../markdown.ts';
import { projectWording } from '../project-language.ts';
import { fileText } from './line-files.ts';

/** Where the kit records which of two memories that contradict each other was kept. Only a project that has it gets rows. */
export const CONTRADICTIONS_FILE = 'contradiction-log.md';
const CELL = 160;

/** A memory that another one has replaced. */
export interface Replaced {
  before: MemoryEntry;
  by: MemoryEntry;
}

const isResolved = (title: string): boolean =>
  /contradictions? (?:resolues?|resolved)|resolved contradictions?/.test(plainTitle(title));

/** Adds the row that says so; false where there is no place for it, or it is there already. */
export async function logReplaced(kit: Kit, memory: string, { before, by }: Replaced): Promise<boolean> {
  const text = await fileText(kit, memory, CONTRADICTIONS_FILE);
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
  await replaceShared(memory, CONTRADICTIONS_FILE, next);
  return true;
}
