import { MEMORY_TYPES, type MemoryEntry, type MemoryType } from '../../../model/memory.ts';
import { headingIn } from '../../../base/text/markdown.ts';
import { bulletIn } from '../../../kit/markdown.ts';
import { localDay } from '../../../base/text/local-time.ts';

/** Memories of one type in the form that the kit exports and imports: one line each, below the name of the agent. */
export function toMarkdown(
  type: MemoryType,
  app: string,
  entries: readonly MemoryEntry[],
  now: Date,
): string {
  const byAgent = new Map<string, MemoryEntry[]>();
  for (const entry of entries) byAgent.set(entry.agent, [...(byAgent.get(entry.agent) ?? []), entry]);
  const groups = [...byAgent]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([agent, own]) => `\n## ${agent}\n\n${own.map(lineOf).join('\n')}\n`);
  return `# ${type} — ${app}\n\n> Exporté : ${localDay(now)} | Entrées : ${entries.length}\n${groups.join('')}`;
}

function lineOf({ createdAt, text, tags }: MemoryEntry): string {
  const marks = tags.map((tag) => ` \`${tag}\``).join('');
  return `- [${localDay(new Date(createdAt))}] ${text.replace(/\s+/g, ' ').trim()}${marks}`;
}

export interface Incoming {
  type: MemoryType | undefined;
  agent: string | undefined;
  text: string;
  tags: readonly string[];
  date?: string | undefined;
}

/** Reads such a file back, and any other list of dated lines. Trailing words in grave accents are tags in an export only. */
export function fromMarkdown(text: string): Incoming[] {
  const found: Incoming[] = [];
  let type: MemoryType | undefined;
  let agent: string | undefined;
  let exported = false;
  for (const line of text.split(/\r?\n/)) {
    const heading = headingIn(line);
    const [, first, owner] = /^(\S+)(?:\s+—\s(.*))?$/s.exec(heading?.title ?? '') ?? [];
    if (heading?.level === 1 && first !== undefined) {
      type = MEMORY_TYPES.find((known) => known === first);
      exported = type !== undefined;
      agent = /^Learnings$/i.test(first) ? owner?.trim() : undefined;
      if (agent !== undefined) type = 'agent-learnings';
    }
    if (heading?.level === 2 && heading.title !== '') agent = heading.title;
    const bullet = bulletIn(line);
    if (bullet === undefined) continue;
    const { rest, tags } = exported ? tagsOff(bullet.text) : { rest: bullet.text, tags: [] };
    found.push({ type, agent, text: rest, tags, date: bullet.date });
  }
  return found;
}

function tagsOff(line: string): { rest: string; tags: string[] } {
  const tags: string[] = [];
  let rest = line;
  for (;;) {
    const last = / `([^`]{1,60})`$/.exec(rest);
    if (last?.[1] === undefined) return { rest, tags };
    tags.unshift(last[1]);
    rest = rest.slice(0, last.index);
  }
}
