import { oneLine } from '../../../base/text/text.ts';
import type { Ask } from './offers.ts';

type Given = Readonly<Record<string, unknown>>;

/** A command that takes something away: what it asks first, and what it is about. */
interface Removal {
  question: string;
  /** Whether it takes anything away when it is called like this; always, where nothing is said. */
  when?(given: Given): boolean;
  details?(given: Given, ask: Ask): Promise<string | undefined>;
}

const named =
  (field: string): NonNullable<Removal['details']> =>
  async (given) =>
    [given[field]].flat().join(', ');

/** The commands that ask before they remove something, unless they are called with --yes. */
export const REMOVALS: Readonly<Partial<Record<string, Removal>>> = {
  memory_forget: {
    question: 'Forget this memory?',
    async details({ id, type }, ask) {
      const data = await ask('memory_get', { id, ...(type === undefined ? {} : { type }) });
      const memory = data?.['memory'] as { type: string; agent: string; text: string } | undefined;
      return memory === undefined
        ? undefined
        : `${memory.type}, ${memory.agent}: ${oneLine(memory.text, 400)}`;
    },
  },
  memory_purge: {
    question: 'Remove them for good? There is no undo.',
    when: ({ apply }) => apply === true,
    async details(given, ask) {
      const data = await ask('memory_purge', { ...given, apply: false });
      const memories = (data?.['memories'] as { id: string; text: string }[] | undefined) ?? [];
      return memories.map(({ id, text }) => `${id}  ${oneLine(text, 160)}`).join('\n');
    },
  },
  sources_remove: { question: 'Remove this source?', details: named('source') },
  sources_clear: { question: 'Remove these copies from the cache?' },
  usage_clear: { question: 'Forget what was started in this project?' },
  cache_clear: { question: 'Clear the cache of all projects?' },
  session_archive: { question: 'Archive this session branch?', details: named('name') },
  task_cancel: { question: 'Cancel this task?', details: named('task_id') },
  remove: {
    question: 'Disconnect these hosts?',
    // Without names, it shows what it has found and asks by itself.
    when: ({ hosts, dry_run: dry }) => hosts !== undefined && dry !== true,
    details: named('hosts'),
  },
};
