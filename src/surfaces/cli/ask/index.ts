import { BmadError } from '../../../base/errors.ts';
import { say, t } from '../../../base/text/message.ts';
import { isYes, oneLine } from '../../../base/text/text.ts';
import type { Item } from '../../../operations/catalogue/list-items.ts';
import type { Confirmed, ConfirmRequest } from '../../../operations/context.ts';
import type { HandoverView } from '../../../operations/handover/handovers.ts';
import type { InboxAction, InboxItem } from '../../../operations/inbox/inbox.ts';
import type { MemoryData } from '../../../operations/memory/memory-view.ts';
import type { AnyOperation, Ask, Picked } from '../../../operations/operation.ts';
import type { TaskView } from '../../../operations/tasks/task-view.ts';
import { EMPTY, line, type Line, span } from '../screen/paint.ts';
import { exactLines } from '../screen/markdown.ts';
import { wrapped } from '../screen/text.ts';
import type { Keyboard, Terminal } from '../terminal.ts';
import { choice, type Offer, picker } from './picker.ts';
import { present } from '../../../base/values.ts';

/** What questions need: somebody to answer them, and the operations they are about. */
export interface Asking {
  keyboard: Keyboard;
  terminal: Terminal;

  ask: Ask;
  /** Runs an operation and prints its answer or its error. */
  perform(operation: string, input: Record<string, unknown>): Promise<void>;
  confirm(request: ConfirmRequest): Promise<Confirmed>;
}

/** What was typed and then chosen; nothing where all of it is done already. */
export async function asked(
  operation: AnyOperation,
  given: Record<string, unknown>,
  missing: readonly string[],
  sure: boolean,
  asking: Asking,
): Promise<Record<string, unknown> | undefined> {
  if (operation.reviews === true && (await reviewed(operation.name, given, asking))) return undefined;
  const input = await completed(operation, given, missing, asking);
  if (!sure) await confirmed(operation, input, asking);
  return input;
}

/** The name from a list, and all else that is missing as a line. */
async function completed(
  { picks = {} }: AnyOperation,
  given: Record<string, unknown>,
  missing: readonly string[],
  { keyboard, terminal, ask }: Asking,
): Promise<Record<string, unknown>> {
  const input = { ...given };
  for (const field of missing) {
    const picked = picks[field];
    if (picked === undefined) {
      const typed = (await terminal.readLine?.(t`${field.replaceAll('_', ' ')}: `))?.trim() ?? '';
      if (typed === '') throw new BmadError('cancelled', t`Nothing was changed.`);
      input[field] = typed;
      continue;
    }
    const pick = PICKS[picked];
    terminal.status?.show(t`reading the content`);
    const question = say(pick.ofKind?.[String(input['kind'])] ?? pick.question);
    const offers = await pick.offers(ask, input);
    if (offers.length === 0)
      throw new BmadError('not_found', t`There is nothing to choose from.`, {
        hint: t`${question} None is known here.`,
      });
    input[field] = await keyboard.ask(picker(question, offers));
  }
  return input;
}

async function confirmed(
  { removes }: AnyOperation,
  input: Readonly<Record<string, unknown>>,
  { ask, confirm }: Asking,
): Promise<void> {
  if (removes === undefined || removes.when?.(input) === false) return;
  const { question, about } = removes;
  const named = about === undefined ? '' : [input[about]].flat().join(', ');
  const details = (await removes.details?.(input, ask)) ?? named;
  const answer = await confirm({ question: say(question), details, yes: '' });
  if (!answer.yes) throw new BmadError('cancelled', t`Nothing was changed.`);
}

/** After the list of what waits, whoever wants to deals with it at once. */
export async function afterwards(
  operation: string,
  data: Record<string, unknown>,
  asking: Asking,
): Promise<void> {
  if (operation !== 'inbox' || (data['items'] as unknown[]).length === 0) return;
  const typed = (await asking.terminal.readLine?.(t`Go through them one by one? [y/N] `)) ?? '';
  if (isYes(typed)) await reviewed(operation, {}, asking);
}

/** What a command can be given. */
interface Pick {
  question: string;
  /** What is asked instead where one kind was named, as in `bmad agent`. */
  ofKind?: Readonly<Partial<Record<string, string>>>;
  offers(ask: Ask, given: Readonly<Record<string, unknown>>): Promise<Offer[]>;
}

/** Lists come in parts; a person searches in all of them. */
const ALL = 200;
const MOST_PARTS = 100;

async function listed(
  ask: Ask,
  operation: string,
  key: string,
  input: Record<string, unknown>,
): Promise<unknown[]> {
  const found: unknown[] = [];
  let cursor: unknown;
  for (let part = 0; part < MOST_PARTS; part++) {
    const data = await ask(operation, { ...input, ...present({ cursor }) });
    found.push(...((data?.[key] as unknown[] | undefined) ?? []));
    cursor = data?.['next'];
    if (cursor === undefined) break;
  }
  return found;
}

const records =
  (...kinds: readonly ('agents' | 'workflows')[]): Pick['offers'] =>
  async (ask, { kind, module, origin }) => {
    const wanted = kind === undefined ? kinds : kinds.filter((each) => each.slice(0, -1) === kind);
    const input = {
      limit: ALL,
      ...present({ module, origin }),
    };
    const parts = wanted.map(
      async (what) => (await listed(ask, 'list', 'items', { ...input, what })) as Item[],
    );
    return (await Promise.all(parts)).flat().map((item) => ({
      value: item.name,
      name: [item.icon, item.name, item.person].filter(Boolean).join(' '),
      about: oneLine(item.description === '' ? (item.title ?? '') : item.description, 200),
    }));
  };

const tasks =
  (status: string): Pick['offers'] =>
  async (ask) =>
    ((await listed(ask, 'task_list', 'tasks', { status, limit: ALL })) as TaskView[]).map((task) => ({
      value: task.task_id,
      name: `${task.status.replaceAll('_', ' ')} ${task.agent}`,
      about: oneLine(task.task, 200),
    }));

const memories =
  (forgotten = false): Pick['offers'] =>
  async (ask) =>
    ((await listed(ask, 'memory_list', 'memories', { all: forgotten, limit: ALL })) as MemoryData[])
      .filter(({ forgottenAt }) => (forgottenAt !== undefined) === forgotten)
      .map((memory) => ({
        value: memory.id,
        name: `${memory.type} ${memory.agent}`,
        about: oneLine(memory.text, 200),
      }));

const contracts: Pick['offers'] = async (ask) =>
  ((await listed(ask, 'delivery_list', 'contracts', {})) as HandoverView[]).map((each) => ({
    value: each.contract_id,
    about: `${each.from_team} → ${each.to_team}, ${each.status}`,
  }));

const sources: Pick['offers'] = async (ask) =>
  ((await listed(ask, 'sources_list', 'sources', {})) as { source: string; state: string }[]).map(
    ({ source, state }) => ({ value: source, about: state }),
  );

const sessions: Pick['offers'] = async (ask) =>
  (
    (await listed(ask, 'list_sessions', 'sessions', {})) as {
      name: string;
      purpose?: string;
      standing: string;
    }[]
  ).map(({ name, purpose, standing }) => ({ value: name, about: purpose ?? standing }));

const WORK = {
  question: 'Which agent or workflow?',
  ofKind: { agent: 'Which agent?', workflow: 'Which workflow?' },
  offers: records('agents', 'workflows'),
};
const AGENT = { question: 'Which agent?', offers: records('agents') };
const TASK = { question: 'Which task?' };
const MEMORY = { question: 'Which memory?', offers: memories() };
const CONTRACT = { question: 'Which contract?', offers: contracts };
const SESSION = { question: 'Which session branch?', offers: sessions };

const PICKS: Readonly<Record<Picked, Pick>> = {
  work: WORK,
  agent: AGENT,
  workflow: { question: 'Which workflow?', offers: records('workflows') },
  task: { ...TASK, offers: tasks('all') },
  'task-waiting': { ...TASK, offers: tasks('needs_approval') },
  'task-open': { ...TASK, offers: tasks('open') },
  memory: MEMORY,
  'memory-forgotten': { ...MEMORY, offers: memories(true) },
  contract: CONTRACT,
  source: { question: 'Which source?', offers: sources },
  session: SESSION,
};

/** Which things that wait are meant by a command without a name, and what it is called with where it names one. */
const REVIEWED: Readonly<
  Partial<Record<string, { kinds: readonly InboxItem['kind'][]; field: string; settles: string }>>
> = {
  task_approve: { kinds: ['task', 'result'], field: 'task_id', settles: 'digest' },
  sources_approve: { kinds: ['source'], field: 'source', settles: 'commit' },
  delivery_accept: { kinds: ['contract'], field: 'contract_id', settles: 'digest' },
};

type Way = { act: InboxAction } | 'skip' | 'quit';

/**
 * What waits for the person, one after the other, each with its exact text: whoever approves has read what is approved.
 * Answers whether anything was shown; otherwise the command itself says how things are.
 */
async function reviewed(
  operation: string,
  given: Readonly<Record<string, unknown>>,
  asking: Asking,
): Promise<boolean> {
  const meant = REVIEWED[operation];
  // Whoever names the very text has read it elsewhere.
  if (meant !== undefined && given[meant.settles] !== undefined) return false;
  const data = await asking.ask('inbox', {});
  const waiting = ((data?.['items'] as InboxItem[] | undefined) ?? []).filter(
    (item) => meant === undefined || (meant.kinds.includes(item.kind) && isNamed(item, given[meant.field])),
  );
  const items = waiting.filter(({ actions }) => actions.length > 0);
  // Whoever has said who decides has said it of all of them.
  const who = given['by'] === undefined ? {} : { by: given['by'] };
  let changed = false;
  for (const [at, item] of items.entries()) {
    const way = await decided(item, t`${at + 1} of ${items.length}`, who, asking).catch((error: unknown) => {
      // Leaving changes nothing more, which is not the same as nothing.
      throw changed && error instanceof BmadError && error.code === 'cancelled'
        ? new BmadError('cancelled', t`The rest is unchanged.`)
        : error;
    });
    if (way === 'quit') break;
    changed ||= way === 'acted';
  }
  return items.length > 0;
}

const isNamed = ({ id }: InboxItem, name: unknown): boolean =>
  name === undefined || id.slice(id.indexOf(' ') + 1) === name;

async function decided(
  item: InboxItem,
  place: string,
  who: { by?: unknown },
  asking: Asking,
): Promise<'acted' | 'skip' | 'quit'> {
  const { terminal } = asking;
  const width = terminal.remarks?.look.width ?? 80;
  const role = item.role === undefined ? '' : t` for ${item.role}`;
  const since = item.since === undefined ? '' : t` since ${item.since.slice(0, 16).replace('T', ' ')}`;
  terminal.remarks?.show([
    EMPTY,
    ...wrapped(line(span(item.title, 'title'), span(`  ${place}${role}${since}`, 'muted')), width),
    ...item.evidence.flatMap(({ says }) => wrapped([span(says, 'muted')], width)),
    EMPTY,
  ]);
  const diff = item.actions.find((each) => each.operation === 'sources_diff');
  // What changes in a source is what is approved.
  if (diff === undefined)
    terminal.answers?.show(item.kind === 'trust' ? exactLines(item.text, width) : exactly(item.text));
  else await asking.perform(diff.operation, diff.args);
  terminal.remarks?.show([EMPTY]);
  for (;;) {
    const way = await asking.keyboard.ask<'open', Way>(
      choice<Way>([
        ...item.actions.filter((each) => each !== diff).map((act) => ({ label: act.label, value: { act } })),
        { label: t`Quit`, value: 'quit' },
        { label: t`Skip`, value: 'skip' },
      ]),
    );
    if (way === 'skip' || way === 'quit') return way;
    const args = await withItsArguments(way.act, asking);
    if (args === undefined) continue;
    await asking.perform(way.act.operation, { ...args, ...who });
    return 'acted';
  }
}

/** The text as it is stored: it is read before something is agreed to, so nothing in it is drawn otherwise. Only our own fences are. */
const exactly = (text: string): Line[] => text.split('\n').map((each) => line(each));

/** The arguments of what was chosen; nothing where the person has thought better of it. */
async function withItsArguments(
  { args, needs = [], danger, label }: InboxAction,
  { terminal }: Asking,
): Promise<Record<string, unknown> | undefined> {
  const { readLine } = terminal;
  const given: Record<string, unknown> = { ...args };
  if (readLine === undefined) return undefined;
  for (const need of needs) {
    const typed = (await readLine(need === 'reason' ? t`Why? ` : t`${need}: `)).trim();
    if (typed === '') return undefined;
    given[need] = typed;
  }
  if (danger !== true || needs.length > 0) return given;
  return isYes(await readLine(t`${label} [y/N] `)) ? given : undefined;
}
