import { field, isTable, textField } from '../base/parse.ts';
import type { KitEntry } from './entry.ts';
import { bulletIn, sectionsOf, withoutExamples } from './markdown.ts';

export const MUSEUM_FILE = 'failure-museum.md';
export const MUSEUM_LOG = 'failure-museum.jsonl';

const HEADING = /^\[(\d{4}-\d{2}-\d{2})\]\s*(?:\[([^\]]{1,100})\]\s*)?(.*)$/;

/** The failures of the museum: a heading with a date each, the fields below it, and older lines with a date. */
export function failuresIn(text: string, source: string, logged: boolean): KitEntry[] {
  const entries: KitEntry[] = [];
  for (const { title, level, line, body } of sectionsOf(withoutExamples(text))) {
    const told = body
      .map((part) => part.text.trim())
      .filter((part) => part !== '' && !/^-{3,}$/.test(part) && !part.startsWith('>'));
    const dated = level >= 3 ? HEADING.exec(title) : null;
    const numbered = /^FM-\d+\s*[—–-]\s*(.+)$/.exec(title);
    if (dated !== null) {
      const [, date = '', agent, name = ''] = dated;
      // Some have the category in brackets where others have the agent.
      const isCategory = agent !== undefined && /^[A-Z]{2,}-[A-Z]+$/.test(agent);
      const heading = isCategory ? `${agent} ${name}` : name;
      entries.push(failure([heading, ...told], source, line, date, isCategory ? undefined : agent));
    } else if (numbered !== null) {
      // The page is made from the log, which says more.
      if (!logged) entries.push(failure([numbered[1] ?? '', ...told], source, line, undefined, undefined));
    } else if (level < 3) {
      for (const part of body) {
        const bullet = bulletIn(part.text);
        if (bullet?.date !== undefined)
          entries.push(failure([bullet.text], source, part.line, bullet.date, undefined));
      }
    }
  }
  return entries;
}

/** The log of the other family: one failure a line. */
export function loggedFailures(text: string, source: string, problems: string[]): KitEntry[] {
  const entries: KitEntry[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      problems.push(`${source}:${index + 1} is no JSON and was passed over.`);
      continue;
    }
    if (!isTable(value)) continue;
    const table = value;
    const agents = field(table, 'agents');
    const tags = field(table, 'tags');
    const told = ['title', 'description', 'root_cause', 'fix', 'rule_added'].flatMap(
      (name) => textField(table, name) ?? [],
    );
    entries.push({
      ...failure(told, source, index + 1, textField(table, 'timestamp'), texts(agents)[0]),
      tags: texts(tags),
    });
  }
  return entries;
}

export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

function failure(
  parts: readonly string[],
  source: string,
  line: number,
  date: string | undefined,
  agent = 'team',
): KitEntry {
  const text = parts.filter((part) => part !== '').join('\n');
  return { type: 'failures', agent, names: [agent], text, tags: [], date, source, line };
}
