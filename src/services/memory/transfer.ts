import { t } from '../../base/text/message.ts';
import { BmadError } from '../../base/errors.ts';
import { agentName } from '../../base/text/agent-titles.ts';
import { oneLine, utcOf } from '../../base/text/text.ts';
import { MEMORY_TYPES, type MemoryEntry, type MemoryFilter, type MemoryType } from '../../model/memory.ts';
import {
  fromJson,
  type FromJson,
  fromMarkdown,
  type Own,
  type Refusal,
  toLines,
  toMarkdown,
} from '../../kit/memories/exported.ts';
import { memoryId } from '../../kit/memories/entries.ts';
import { present } from '../../base/values.ts';
import type { Decided, NewMemory, Stored, WriteOutcome } from './engine.ts';
import { upserted } from './fold.ts';
import { cleanTags, cleanText, embedded, type OpenMemory, shownBy } from './opened.ts';
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
  const session = await opened.sessionToWrite(call.progress);
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
    const decide = (current: MemoryEntry | undefined, at: number): Decided<WriteOutcome> => {
      const { own, ...memory } = batch[at] as Ready;
      const said = { ...memory, vector: vectors[at] };
      if (own !== undefined) return returned(current, said, own, opened.files.kit.app);
      const { answer, ...decided } = upserted(current, said, opened.files.kit.app);
      return { ...decided, answer: answer.outcome };
    };
    for (const outcome of await session.store.change(batch, decide)) result[outcome]++;
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
  current: MemoryEntry | undefined,
  memory: NewMemory,
  own: Own,
  project: string,
): Decided<WriteOutcome> {
  const since = current?.updatedAt ?? '';
  const said = since < own.updatedAt ? upserted(current, memory, project) : undefined;
  const entry = said?.next ?? current;
  const isNew = (mark: 'supersededAt' | 'forgottenAt'): boolean =>
    own[mark] !== undefined && current?.[mark] === undefined && own[mark] >= since;
  const { supersededAt, supersededBy } = isNew('supersededAt') ? own : {};
  const { forgottenAt } = isNew('forgottenAt') ? own : {};
  const marks = present<Marks>({ supersededAt, supersededBy, forgottenAt });
  const isMarked = Object.keys(marks).length > 0;
  const outcome = said?.answer.outcome ?? 'unchanged';
  const answer = outcome === 'unchanged' && isMarked ? 'updated' : outcome;
  if (entry === undefined || answer === 'unchanged') return { next: undefined, answer };
  const earlier = own.earlier.map((wording, at) => ({ ...wording, revision: at + 1 })).toReversed();
  const next = { ...entry, ...marks };
  const vector = said?.vector;
  return current === undefined ? { next, earlier, vector, answer } : { next, vector, answer };
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
    agent: agentName(wording.agent),
    text: cleanText(wording.text, opened.hide).text,
    tags: cleanTags(wording.tags),
  });
  try {
    const owner = agentName(agent ?? defaults.agent ?? 'team');
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
