import { t } from '../../base/text/message.ts';
import { BmadError } from '../../base/errors.ts';
import { localDay, localTime, oneLine, utcOf } from '../../base/text/text.ts';
import {
  MEMORY_TYPES,
  type MemoryEntry,
  type MemoryFilter,
  type MemoryRevision,
  type MemoryType,
} from '../../model/memory.ts';
import { memoryId } from '../../kit/memories/ids.ts';
import { jsonIn } from '../../base/parse/json.ts';
import { field, isTable, type Table, textField } from '../../base/parse/parse.ts';
import { isMemoryId, present } from '../../base/values.ts';
import { texts } from '../../kit/museum/museum.ts';
import { headingIn } from '../../base/text/markdown.ts';
import { bulletIn } from '../../kit/markdown.ts';
import type { Decided, NewMemory, Stored, WriteOutcome } from './engine.ts';
import { upserted } from './fold.ts';
import { cleanAgent, cleanTags, cleanText, embedded, type OpenMemory, shownBy } from './opened.ts';
import { allEntries } from './store.ts';

const BATCH = 500;

/** All memories as text, with secrets masked: Markdown in the kit's form, oldest first, or one JSON object a line. */
export async function exported(
  opened: OpenMemory,
  format: 'markdown' | 'jsonl',
  filter: MemoryFilter,
): Promise<{ text: string; count: number }> {
  const { store } = await opened.session();
  const safe = shownBy(opened);
  const entries = (await allEntries(store, filter)).toReversed().map(safe.entry);
  if (format === 'jsonl') {
    const lines: Stored[] = [];
    for (const entry of entries)
      lines.push({
        entry,
        revisions: entry.revision > 1 ? (await store.revisions(entry)).map((each) => safe.wording(each)) : [],
      });
    return { text: toLines(lines), count: entries.length };
  }
  const types = MEMORY_TYPES.filter((type) => entries.some((entry) => entry.type === type));
  const shown = types.length > 0 ? types : (filter.types ?? []);
  const parts = shown.map((type) =>
    toMarkdown(
      type,
      opened.files.kit.app,
      entries.filter((entry) => entry.type === type),
      new Date(),
    ),
  );
  return { text: parts.join('\n'), count: entries.length };
}

export interface ImportDefaults {
  type?: MemoryType | undefined;
  agent?: string | undefined;
}

export interface Imported extends Record<WriteOutcome, number> {
  /** What was not taken, and why, a few of them. */
  refused: Refusal[];
  refusedCount: number;
}

const REASONS_TOLD = 50;
const SHOWN = 80;

/** Takes over what a file has. What was forgotten here stays so. */
export async function imported(
  opened: OpenMemory,
  text: string,
  defaults: ImportDefaults,
  call: { signal: AbortSignal; progress(message: string): void },
): Promise<Imported> {
  const json = fromJson(text, opened.files.kit.app);
  const items: FromJson[] = json?.found ?? fromMarkdown(text);
  const result: Imported = { created: 0, updated: 0, unchanged: 0, refused: [], refusedCount: 0 };
  for (const wrong of json?.wrong ?? []) refuse(opened, result, wrong);
  if (items.length === 0 && result.refusedCount === 0)
    throw new BmadError('invalid_input', t`The file contains nothing to import.`, {
      hint: t`Use Markdown with "- [2026-03-01] text" lines, JSONL with one object per line, or memories.json.`,
    });
  const session = await opened.sessionToWrite(call.signal, call.progress);
  const ready = items.flatMap((item) => readyItem(opened, item, defaults, result));
  for (let from = 0; from < ready.length; from += BATCH) {
    call.signal.throwIfAborted();
    const batch = ready.slice(from, from + BATCH);
    const { vectors } = await embedded(
      opened,
      session,
      batch.map((memory) => memory.text),
      call.signal,
    );
    const memories = batch.map((memory, index) => ({ ...memory, vector: vectors[index] }));
    const plain = memories.filter(({ own }) => own === undefined);
    for (const { outcome } of await session.store.upsert(plain)) result[outcome]++;
    const back = memories.flatMap(({ own, ...memory }) => (own === undefined ? [] : [{ own, memory }]));
    const keys = back.map(({ memory }) => memory);
    const decide = (current: Stored | undefined, at: number): Decided<WriteOutcome> =>
      returned(current, back[at] as (typeof back)[number], opened.files.kit.app);
    for (const outcome of await session.store.change(keys, decide)) result[outcome]++;
    call.progress(t`${Math.min(from + BATCH, ready.length)} of ${ready.length} memories`);
  }
  return result;
}

function refuse(opened: OpenMemory, result: Imported, { text, reason }: Refusal): void {
  result.refusedCount++;
  if (result.refused.length < REASONS_TOLD)
    result.refused.push({ text: oneLine(shownBy(opened).text(text), SHOWN), reason });
}

type Marks = Pick<MemoryEntry, 'supersededAt' | 'supersededBy' | 'forgottenAt'>;

/**
 * A memory of this very project returns under its id, with its earlier versions and marks. Changes made here after the
 * export are kept.
 */
function returned(
  current: Stored | undefined,
  { memory, own }: { memory: NewMemory; own: Own },
  project: string,
): Decided<WriteOutcome> {
  const since = current?.entry.updatedAt ?? '';
  const said = since < own.updatedAt ? upserted(current, memory, project) : undefined;
  const { entry, revisions } = said?.next ?? current ?? {};
  const isNew = (mark: 'supersededAt' | 'forgottenAt'): boolean =>
    own[mark] !== undefined && current?.entry[mark] === undefined && own[mark] >= since;
  const marks = {
    ...(isNew('supersededAt')
      ? present<Marks>({ supersededAt: own.supersededAt, supersededBy: own.supersededBy })
      : {}),
    ...(isNew('forgottenAt') ? present<Marks>({ forgottenAt: own.forgottenAt }) : {}),
  };
  const isMarked = Object.keys(marks).length > 0;
  const outcome = said?.answer.outcome ?? 'unchanged';
  const answer = outcome === 'unchanged' && isMarked ? 'updated' : outcome;
  if (entry === undefined || answer === 'unchanged') return { next: undefined, answer };
  const earlier = own.earlier.map((wording, at) => ({ ...wording, revision: at + 1 })).toReversed();
  const next =
    current === undefined
      ? { entry: { ...entry, ...marks, revision: earlier.length + 1 }, revisions: earlier }
      : { entry: { ...entry, ...marks }, revisions: revisions ?? [] };
  return { next, vector: said?.vector, answer };
}

type Ready = NewMemory & { own?: Own | undefined };

function readyItem(
  opened: OpenMemory,
  { type, agent, text, tags, date, own }: FromJson,
  defaults: ImportDefaults,
  result: Imported,
): Ready[] {
  const cleanWording = (wording: Own['earlier'][number]): Own['earlier'][number] => ({
    ...wording,
    agent: cleanAgent(wording.agent),
    text: cleanText(wording.text, opened.hide).text,
    tags: cleanTags(wording.tags),
  });
  try {
    const owner = cleanAgent(agent ?? defaults.agent ?? 'team');
    const clean = cleanText(text, opened.hide).text;
    const kind = type ?? defaults.type ?? (agent === undefined ? 'shared-context' : 'agent-learnings');
    const id = own?.id ?? memoryId(opened.files.kit.app, owner, clean);
    const at = new Date().toISOString();
    const createdAt = own?.createdAt ?? utcOf(date) ?? at;
    return [
      {
        type: kind,
        id,
        agent: owner,
        text: clean,
        tags: cleanTags(tags),
        at: own?.updatedAt ?? createdAt,
        createdAt,
        revive: false,
        own: own === undefined ? undefined : { ...own, earlier: own.earlier.map(cleanWording) },
      },
    ];
  } catch (error) {
    if (!(error instanceof BmadError)) throw error;
    refuse(opened, result, { text, reason: error.message });
    return [];
  }
}

type Wording = Omit<MemoryRevision, 'revision'>;

/** What a line of our export has besides its text, so that it becomes the same memory again. */
interface Own {
  id: string;
  createdAt: string;
  updatedAt: string;
  supersededAt?: string | undefined;
  supersededBy?: string | undefined;
  forgottenAt?: string | undefined;
  /** Oldest first. */
  earlier: Wording[];
}

interface FromJson extends Incoming {
  own?: Own | undefined;
}

interface Refusal {
  text: string;
  reason: string;
}

/** One memory a line: the fields that the kit's own payloads have, and those that only we have after them. */
function toLines(lines: readonly Stored[]): string {
  return lines.map((line) => `${JSON.stringify(tableOf(line))}\n`).join('');
}

/** What is undefined is left out of JSON. */
function tableOf({ entry, revisions }: Stored): Record<string, unknown> {
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
function fromJson(text: string, app: string): { found: FromJson[]; wrong: Refusal[] } | undefined {
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

/** Memories of one type in the form that the kit exports and imports: one line each, below the name of the agent. */
function toMarkdown(type: MemoryType, app: string, entries: readonly MemoryEntry[], now: Date): string {
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
