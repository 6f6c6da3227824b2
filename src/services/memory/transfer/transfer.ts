import { BmadError } from '../../../base/errors.ts';
import { oneLine } from '../../../base/text/text.ts';
import { MEMORY_TYPES, type MemoryEntry, type MemoryFilter, type MemoryType } from '../../../model/memory.ts';
import { memoryId } from '../../../kit/memories/ids.ts';
import { utcOf } from '../../../base/text/local-time.ts';
import type { Stored } from '../change.ts';
import type { MemoryStore } from '../engine.ts';
import type { NewMemory, WriteOutcome } from '../store.ts';
import { shownBy } from '../shown.ts';
import { cleanAgent, cleanTags, cleanText } from '../text-rules.ts';
import { embedded, type OpenMemory } from '../opened.ts';
import { fromJson, toLines, type FromJson, type Own, type Refusal } from './lines.ts';
import { fromMarkdown, toMarkdown } from './markdown.ts';

const BATCH = 100;

export async function allEntries(store: MemoryStore, filter: MemoryFilter): Promise<MemoryEntry[]> {
  const entries: MemoryEntry[] = [];
  let after: string | undefined;
  do {
    const page = await store.list(filter, { limit: 1_000, after });
    entries.push(...page.entries);
    after = page.next;
  } while (after !== undefined);
  return entries;
}

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
    throw new BmadError('invalid_input', 'The file contains nothing to import.', {
      hint: 'Use Markdown with "- [2026-03-01] text" lines, JSONL with one object per line, or memories.json.',
    });
  const session = await opened.sessionToWrite(call.signal);
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
    for (const { own, ...memory } of memories)
      if (own !== undefined) result[await takeOwn(session.store, memory, own)]++;
    call.progress(`${Math.min(from + BATCH, ready.length)} of ${ready.length} memories`);
  }
  return result;
}

function refuse(opened: OpenMemory, result: Imported, { text, reason }: Refusal): void {
  result.refusedCount++;
  if (result.refused.length < REASONS_TOLD)
    result.refused.push({ text: oneLine(shownBy(opened).text(text), SHOWN), reason });
}

/**
 * A memory of this very project returns under its id, with its earlier versions and marks. Changes made here after the
 * export are kept.
 */
async function takeOwn(store: MemoryStore, memory: NewMemory, own: Own): Promise<WriteOutcome> {
  const current = await store.get(memory);
  const earlier = current === undefined ? own.earlier : [];
  let outcome: WriteOutcome = 'unchanged';
  if (current === undefined || current.updatedAt < own.updatedAt) {
    const { vector: _, ...plain } = memory;
    const answers = await store.upsert([...earlier.map((wording) => ({ ...plain, ...wording })), memory]);
    outcome = current === undefined ? 'created' : (answers.at(-1)?.outcome ?? 'unchanged');
  }
  const since = current?.updatedAt ?? '';
  let marked = false;
  if (own.supersededAt !== undefined && current?.supersededAt === undefined && own.supersededAt >= since) {
    await store.supersede(memory, own.supersededBy, own.supersededAt);
    marked = true;
  }
  if (own.forgottenAt !== undefined && current?.forgottenAt === undefined && own.forgottenAt >= since)
    marked = (await store.forget([memory], own.forgottenAt)).length > 0 || marked;
  return outcome === 'unchanged' && marked ? 'updated' : outcome;
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

/**
 * Copies everything from one store to another: earlier wordings, and what was forgotten or superseded; or only what the
 * other does not have, or has as it was before. Answers how many were copied.
 */
export async function copyAll(from: MemoryStore, to: MemoryStore, onlyMissing = false): Promise<number> {
  const entries = await allEntries(from, { includeForgotten: true, includeSuperseded: true });
  let copied = 0;
  for (const entry of entries.toReversed()) {
    const there = onlyMissing ? await to.get(entry) : undefined;
    if (there !== undefined && there.updatedAt >= entry.updatedAt) continue;
    copied++;
    const earlier = (await from.revisions(entry)).toReversed();
    const wordings = [...earlier, { ...entry, at: entry.updatedAt }];
    const { type, id, createdAt } = entry;
    await to.upsert(
      wordings.map(({ text, tags, agent, at }) => ({ type, id, text, tags, agent, at, createdAt })),
    );
    if (entry.supersededAt !== undefined) await to.supersede(entry, entry.supersededBy, entry.supersededAt);
    if (entry.forgottenAt !== undefined) await to.forget([entry], entry.forgottenAt);
  }
  return copied;
}
