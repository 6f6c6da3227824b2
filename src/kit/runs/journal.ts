import { jsonObject } from '../../base/parse/json.ts';
import { field, isTable, textField, type Table } from '../../base/parse/parse.ts';
import type { JournalEntry, JournalStanding } from '../../model/run.ts';
import { stateDigest } from './checkpoint-id.ts';
import { lastStep } from './state-file.ts';

/** A file of lines that only grows, beside the state: what happened, in order. */
export const JOURNAL_FILE = 'journal.jsonl';

export interface Journal {
  entries: JournalEntry[];
  /** Lines that could not be understood; a crash may leave one. */
  broken: number;
}

const EVENTS = ['opened', 'adopted', 'checkpoint', 'finished'] as const;

export function journalIn(text: string): Journal {
  const entries: JournalEntry[] = [];
  let broken = 0;
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const entry = entryIn(line);
    if (entry === undefined) broken += 1;
    else entries.push(entry);
  }
  return { entries, broken };
}

/** How many lines are incomplete, without parsing each: a line cut off by a crash has no end. */
export function cutLines(text: string): number {
  let count = 0;
  for (const line of text.split('\n')) if (line.trim() !== '' && !/^\{.*\}\s*$/.test(line)) count += 1;
  return count;
}

function entryIn(line: string): JournalEntry | undefined {
  const value = jsonObject(line);
  if (value === undefined) return undefined;
  const event = EVENTS.find((known) => known === field(value, 'event'));
  const seq = field(value, 'seq');
  if (event === undefined || typeof seq !== 'number') return undefined;
  if (textField(value, 'at') === undefined || textField(value, 'after') === undefined) return undefined;
  if ((event === 'opened' || event === 'adopted') && !isTable(field(value, 'state'))) return undefined;
  return value as unknown as JournalEntry;
}

/** The last line, without reading what is before it: most of the time that is all one needs to know. */
export function lastEntryIn(text: string): JournalEntry | undefined {
  let end = text.length;
  while (end > 0) {
    const start = text.lastIndexOf('\n', end - 1) + 1;
    const entry = text.slice(start, end).trim() === '' ? undefined : entryIn(text.slice(start, end));
    if (entry !== undefined) return entry;
    end = start - 1;
  }
  return undefined;
}

/** The state after one more line. The writer uses it too, so that both always come to the same. */
export function applied(before: Table, entry: Omit<JournalEntry, 'after'>): Table {
  if (entry.event === 'opened' || entry.event === 'adopted') return { ...entry.state };
  const state: Table = { ...before, last_checkpoint: entry.at };
  if (entry.total !== undefined) state['total_steps'] = entry.total;
  if (entry.notes !== undefined) state['agent_notes'] = entry.notes;
  if (entry.event === 'finished') {
    delete state['abandoned'];
    return { ...state, status: entry.status, ...(entry.abandoned === true ? { abandoned: true } : {}) };
  }
  if (entry.status === undefined) delete state['abandoned'];
  if (entry.agent !== undefined) state['agent'] = entry.agent;
  // It is about the last step only: one that was told by its number alone has no name.
  if (entry.step !== undefined) delete state['last_step'];
  if (entry.told !== undefined) state['last_step'] = entry.told;
  const done = new Set(numbersIn(before['steps_completed']));
  for (const step of [...numbersIn(entry.also), ...(entry.step === undefined ? [] : [entry.step])])
    done.add(step);
  const steps = [...done].sort((a, b) => a - b);
  const last = lastStep(steps);
  const total = typeof state['total_steps'] === 'number' ? state['total_steps'] : undefined;
  const next = last === undefined ? (entry.current ?? 1) : last + 1;
  const variables = before['session_variables'];
  return {
    ...state,
    // What is only noted in a run that rests does not set it going.
    status: entry.status ?? 'running',
    steps_completed: steps,
    current_step: entry.current ?? (total === undefined ? next : Math.min(next, total)),
    resume_from_step: next,
    session_variables: { ...(isTable(variables) ? variables : {}), ...entry.variables },
    artefacts_produced: withArtefacts(before['artefacts_produced'], entry.artefacts ?? []),
    ...(entry.checkpoint_id === undefined ? {} : { checkpoint_id: entry.checkpoint_id }),
  };
}

function numbersIn(value: unknown): number[] {
  return Array.isArray(value) ? value.map(Number).filter(Number.isSafeInteger) : [];
}

/** A file that is named again for the same step is one artefact, not two. */
function withArtefacts(known: unknown, added: readonly { step?: number; path: string }[]): unknown[] {
  const rest = (Array.isArray(known) ? (known as unknown[]) : []).filter(
    (each) =>
      !isTable(each) ||
      !added.some(({ step, path }) => field(each, 'path') === path && field(each, 'step') === step),
  );
  return [...rest, ...added];
}

/** The state that the lines make together; nothing when the beginning is missing. */
export function stateFrom(entries: readonly JournalEntry[]): Table | undefined {
  const start = entries.findLastIndex(({ event }) => event === 'opened' || event === 'adopted');
  if (start < 0) return undefined;
  return entries.slice(start).reduce<Table>((state, entry) => applied(state, entry), {});
}

export interface Standing {
  standing: JournalStanding;
  /** The state that counts; nothing when neither file has one. */
  state: Table | undefined;
}

/** Which of the two files counts. A state that an earlier line left behind is one that a crash kept from being written. */
export function standingOf(text: string | undefined, table: Table | undefined): Standing {
  const last = text === undefined ? undefined : lastEntryIn(text);
  if (text === undefined || last === undefined) return { standing: 'none', state: table };
  const now = table === undefined ? undefined : stateDigest(table);
  if (now === last.after) return { standing: 'level', state: table };
  const { entries } = journalIn(text);
  if (now !== undefined && !entries.some(({ after }) => after === now))
    return { standing: 'changed', state: table };
  const made = stateFrom(entries);
  return made === undefined ? { standing: 'changed', state: table } : { standing: 'behind', state: made };
}
