import { oneLine } from '../../../base/text/text.ts';
import type { Item } from '../../../operations/catalogue/list-items.ts';
import type { MemoryData } from '../../../operations/memory/memory-view.ts';
import type { HandoverView } from '../../../operations/handover/handover-view.ts';
import type { TaskView } from '../../../operations/tasks/task-view.ts';
import type { Ask, Picked } from '../../../operations/operation.ts';
import type { Offer } from './picker.ts';

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
    const data = await ask(operation, { ...input, ...(cursor === undefined ? {} : { cursor }) });
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
      ...(module === undefined ? {} : { module }),
      ...(origin === undefined ? {} : { origin }),
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

export const PICKS: Readonly<Record<Picked, Pick>> = {
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
