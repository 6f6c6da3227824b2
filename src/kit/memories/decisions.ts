import type { KitEntry } from './entry.ts';
import { sectionsOf, withoutExamples, type LineSection } from '../../base/text/markdown.ts';
import { bulletIn, rowIn, struckText } from '../markdown.ts';

export const DECISIONS_FILE = 'decisions-log.md';

/** A decision on a plain line names no one. */
export const NOBODY = 'team';

/** Decisions in all the forms of the log: dated tables, lines with a date, and headed paragraphs. */
export function decisionsIn(text: string, source: string): KitEntry[] {
  return sectionsOf(withoutExamples(text)).flatMap((section) => {
    const day = /^\[?(\d{4}-\d{2}-\d{2})\]?/.exec(section.title)?.[1];
    const found: KitEntry[] = [];
    let head: string[] | undefined;
    const prose: LineSection['body'] = [];
    let isLog = day === undefined;
    for (const { text: line, line: number } of section.body) {
      const bullet = bulletIn(line);
      const row = rowIn(line);
      if (bullet === undefined && row === undefined) prose.push({ text: line, line: number });
      else isLog &&= bullet?.date !== undefined;
      if (bullet !== undefined && struckText(bullet.text) !== undefined) continue;
      if (bullet !== undefined) found.push(entry(bullet.text, source, number, { date: bullet.date ?? day }));
      else if (row !== undefined && head === undefined) head = row.map((name) => name.toLowerCase());
      else if (row !== undefined && row.some((part) => !/^[—–-]?$/.test(part)))
        found.push(decisionRow(row, head ?? [], source, number, day));
    }
    if (section.level < 2 || (found.length > 0 && !isLog)) return found;
    // Lines of the log that were added below a paragraph, at the end of the file, are not a part of it.
    return [...paragraph({ ...section, body: prose }, source, day), ...found];
  });
}

function decisionRow(
  row: readonly string[],
  head: readonly string[],
  source: string,
  line: number,
  day: string | undefined,
): KitEntry {
  const agentAt = head.indexOf('agent');
  const dateAt = head.indexOf('date');
  const text = row.filter((part, index) => index !== agentAt && index !== dateAt && part !== '').join(' — ');
  return entry(text, source, line, { date: dateAt < 0 ? day : row[dateAt], agent: row[agentAt] });
}

function paragraph({ title, line, body }: LineSection, source: string, date: string | undefined): KitEntry[] {
  const text = body
    .map((part) => part.text.trim())
    .filter((part) => part !== '' && !/^-{3,}$/.test(part))
    .join('\n');
  return text === '' ? [] : [entry(`${title}\n${text}`, source, line, { date })];
}

function entry(
  text: string,
  source: string,
  line: number,
  { date, agent = NOBODY }: { date?: string | undefined; agent?: string | undefined },
): KitEntry {
  return { type: 'decisions', agent, names: [agent], text, tags: [], date, source, line };
}
