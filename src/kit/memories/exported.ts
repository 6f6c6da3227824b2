import { jsonIn } from '../../base/parse/json.ts';
import { field, isTable, type Table, textField } from '../../base/parse/parse.ts';
import { headingIn } from '../../base/text/markdown.ts';
import { t } from '../../base/text/message.ts';
import { localDay, localTime } from '../../base/text/text.ts';
import { isMemoryId } from '../../base/values.ts';
import { MEMORY_TYPES, type MemoryEntry, type MemoryRevision, type MemoryType } from '../../model/memory.ts';
import { bulletIn } from '../text.ts';
import { texts } from './entries.ts';

/** The forms in which memories leave a project and come back: the kit's Markdown, its JSON, and our own lines of JSON. */

interface Kept {
  entry: MemoryEntry;
  /** Newest first. */
  revisions: readonly MemoryRevision[];
}

type Wording = Omit<MemoryRevision, 'revision'>;

/** What a line of our export has besides its text, so that it becomes the same memory again. */
export interface Own {
  id: string;
  createdAt: string;
  updatedAt: string;
  supersededAt?: string | undefined;
  supersededBy?: string | undefined;
  forgottenAt?: string | undefined;
  /** Oldest first. */
  earlier: Wording[];
}

export interface FromJson extends Incoming {
  own?: Own | undefined;
}

export interface Refusal {
  text: string;
  reason: string;
}

/** One memory a line: the fields that the kit's own payloads have, and those that only we have after them. */
export function toLines(lines: readonly Kept[]): string {
  return lines.map((line) => `${JSON.stringify(tableOf(line))}\n`).join('');
}

/** What is undefined is left out of JSON. */
function tableOf({ entry, revisions }: Kept): Record<string, unknown> {
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
    superseded_at_utc: entry.supersededAt,
    superseded_by: entry.supersededBy,
    forgotten_at_utc: entry.forgottenAt,
    earlier:
      revisions.length === 0
        ? undefined
        : revisions.map(({ at, ...each }) => ({
            text: each.text,
            tags: each.tags,
            agent: each.agent,
            at_utc: at,
          })),
  };
}

/**
 * JSON in any form used here: a list, or one object per line. Undefined if it is not JSON. Ids and marks apply only in
 * the project they come from: in another one, the same id would be a different memory.
 */
export function fromJson(text: string, app: string): { found: FromJson[]; wrong: Refusal[] } | undefined {
  const trimmed = text.trimStart();
  if (!/^[[{]/.test(trimmed)) return undefined;
  const whole = jsonIn(text);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const list =
    whole === undefined
      ? lines.map((line) => ({ shown: line, value: jsonIn(line) }))
      : (Array.isArray(whole) ? (whole as unknown[]) : [whole]).map((value) => ({
          shown: JSON.stringify(value),
          value,
        }));
  const found: FromJson[] = [];
  const wrong: Refusal[] = [];
  for (const { shown, value } of list) {
    const read = isTable(value) ? incoming(value, app) : t`It is not a JSON object.`;
    if (typeof read === 'string') wrong.push({ text: shown, reason: read });
    else found.push(read);
  }
  return { found, wrong };
}

/** What an object says, or why it cannot be taken. */
function incoming(table: Table, app: string): FromJson | string {
  // A point of Qdrant has its fields in a payload, an entry of memories.json some of them in its metadata.
  const inner = ['payload', 'metadata'].map((name) => field(table, name)).filter(isTable);
  const places = [table, ...inner];
  const text = (name: string): string | undefined =>
    places.map((place) => textField(place, name)).find((value) => value !== undefined);
  const content = text('text') ?? text('memory');
  if (content === undefined) return t`It has no "text" and no "memory".`;
  const type = MEMORY_TYPES.find((known) => known === text('type'));
  const own = type === undefined || text('project') !== app ? undefined : ownOf(table);
  if (own === undefined && text('forgotten_at_utc') !== undefined)
    return t`It was forgotten in the project it came from.`;
  return {
    type,
    agent: text('agent'),
    text: content,
    tags: texts(places.map((place) => field(place, 'tags')).find(Array.isArray)),
    date: text('created_at_utc') ?? text('created_at') ?? text('timestamp'),
    own,
  };
}

function ownOf(table: Table): Own | undefined {
  const id = textField(table, 'id');
  const time = (name: string, of: Table = table): string | undefined => {
    const at = Date.parse(textField(of, name) ?? '');
    return Number.isFinite(at) ? new Date(at).toISOString() : undefined;
  };
  const [createdAt, updatedAt] = [time('created_at_utc'), time('updated_at_utc')];
  if (id === undefined || !isMemoryId(id) || createdAt === undefined || updatedAt === undefined)
    return undefined;
  const by = textField(table, 'superseded_by');
  const earlier = field(table, 'earlier');
  const wordings = (Array.isArray(earlier) ? (earlier as unknown[]) : []).filter(isTable).flatMap((each) => {
    const [said, agent, at] = [textField(each, 'text'), textField(each, 'agent'), time('at_utc', each)];
    if (said === undefined || agent === undefined || at === undefined) return [];
    return [{ text: said, agent, at, tags: texts(field(each, 'tags')) }];
  });
  return {
    id: id.trim().toLowerCase(),
    createdAt,
    updatedAt,
    supersededAt: time('superseded_at_utc'),
    supersededBy: by !== undefined && isMemoryId(by) ? by.trim().toLowerCase() : undefined,
    forgottenAt: time('forgotten_at_utc'),
    earlier: wordings.toReversed(),
  };
}

/** Memories of one type in the form that the kit exports and imports: one line each, below the name of the agent. Its importer reads no other line. */
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
  return `# ${type} — ${app}\n\n> Exported: ${localDay(now)} | Entries: ${entries.length}\n${groups.join('')}`;
}

function lineOf({ createdAt, text, tags }: MemoryEntry): string {
  const marks = tags.map((tag) => ` \`${tag}\``).join('');
  return `- [${localDay(new Date(createdAt))}] ${text.replace(/\s+/g, ' ').trim()}${marks}`;
}

interface Incoming {
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
  let isOurs = false;
  for (const line of text.split(/\r?\n/)) {
    const heading = headingIn(line);
    const [, first, owner] = /^(\S+)(?:\s+—\s(.*))?$/s.exec(heading?.title ?? '') ?? [];
    if (heading?.level === 1 && first !== undefined) {
      type = MEMORY_TYPES.find((known) => known === first);
      isOurs = type !== undefined;
      agent = /^Learnings$/i.test(first) ? owner?.trim() : undefined;
      if (agent !== undefined) type = 'agent-learnings';
    }
    if (heading?.level === 2 && heading.title !== '') agent = heading.title;
    const bullet = bulletIn(line);
    if (bullet === undefined) continue;
    const { rest, tags } = isOurs ? tagsOff(bullet.text) : { rest: bullet.text, tags: [] };
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
