import { push } from '../../base/values.ts';
import { t } from '../../base/text/message.ts';
import { BmadError } from '../../base/errors.ts';
import { jsonIn } from '../../base/parse/json.ts';
import { cut, fenced } from '../../base/text/text.ts';
import type { MergeStrategy, Task } from '../../model/task.ts';

export interface MergeOrder {
  strategy: MergeStrategy;
  /** Those to merge; all when empty. */
  outputKeys: readonly string[];
  runId?: string | undefined;
  mergedOutputKey: string;
}

interface Part {
  task: Task;
  /** Nothing when the task has given no result that counts. */
  text: string | undefined;
}

export interface Merged {
  text: string;
  ending: '.md' | '.json';
  /** Output keys that are in it, in order. */
  used: string[];
  /** Those that are not, and why. */
  missing: { output_key: string; status: string; reason: string }[];
}

const PARAGRAPH = 600;
const POINTS = 12;

/** Puts results together, the oldest task first: the same results give the same text. */
export function mergeResults(parts: readonly Part[], order: MergeOrder): Merged {
  const done = parts.flatMap(({ task, text }) => (text === undefined ? [] : [{ task, text }]));
  const missing: Merged['missing'] = parts
    .filter(({ text }) => text === undefined)
    .map(({ task }) => ({
      output_key: task.output_key,
      status: task.status,
      reason: task.error ?? 'no result yet',
    }));
  const absent = order.outputKeys.filter((key) => !parts.some(({ task }) => task.output_key === key));
  missing.push(...absent.map((key) => ({ output_key: key, status: 'unknown', reason: 'no such task' })));
  checkDoubles(done, order);
  if (done.length === 0)
    throw new BmadError('not_found', t`There are no completed tasks to merge.`, {
      hint:
        missing.length === 0
          ? t`Add tasks and complete them first.`
          : t`Not completed: ${missing.map(({ output_key, status }) => `${output_key} (${status})`).join(', ')}.`,
    });
  const { text, ending, used } = STRATEGIES[order.strategy](done, order);
  return { text, ending, used: used ?? done.map(({ task }) => task.output_key), missing };
}

/** Two results of one key would be one in the end, and which one nobody could tell. */
function checkDoubles(done: readonly Done[], { strategy }: MergeOrder): void {
  if (strategy !== 'structured') return;
  const runs = new Map<string, string[]>();
  for (const { task } of done) push(runs, task.output_key, task.run_id ?? t`no run`);
  const double = [...runs].find(([, of]) => of.length > 1);
  if (double === undefined) return;
  const run = done.find(({ task }) => task.output_key === double[0] && task.run_id !== undefined)?.task
    .run_id;
  throw new BmadError(
    'conflict',
    t`Several tasks have the output key "${double[0]}": ${double[1].join(', ')}.`,
    {
      subject: double[0],
      steps: [
        ...(run === undefined
          ? []
          : [
              {
                operation: 'task_merge',
                args: { strategy, run_id: run },
                why: t`Merge the tasks of one run`,
              },
            ]),
        { operation: 'task_merge', args: { strategy: 'concat' }, why: t`Or join all results` },
      ],
    },
  );
}

type Done = { task: Task; text: string };
type Strategy = (
  done: readonly Done[],
  order: MergeOrder,
) => { text: string; ending: Merged['ending']; used?: string[] };

const STRATEGIES: Record<MergeStrategy, Strategy> = {
  concat: (done, { mergedOutputKey }) => ({
    ending: '.md',
    text: `# ${mergedOutputKey}\n\n${done.map((part) => `${heading(part)}\n\n${part.text.trim()}\n`).join('\n')}`,
  }),

  structured: (done) => ({
    ending: '.json',
    text: `${JSON.stringify(Object.fromEntries(done.map(({ task, text }) => [task.output_key, jsonOr(text)])), null, 2)}\n`,
  }),

  'first-wins': (done) => {
    const first = [...done].sort((a, b) => (finished(a) < finished(b) ? -1 : 1))[0] as Done;
    return { ending: '.md', text: `${first.text.trim()}\n`, used: [first.task.output_key] };
  },

  vote: (done, { mergedOutputKey }) => {
    const votes = new Map<string, { shown: string; keys: string[] }>();
    for (const part of done) {
      const shown = ballot(part.text);
      const vote = votes.get(shown.toLowerCase()) ?? { shown, keys: [] };
      vote.keys.push(part.task.output_key);
      votes.set(shown.toLowerCase(), vote);
    }
    const ranked = [...votes.values()].sort((a, b) => b.keys.length - a.keys.length);
    const [best, second] = ranked;
    const tie = best !== undefined && second?.keys.length === best.keys.length;
    const verdict = tie
      ? 'No majority.'
      : `**${best?.shown ?? ''}** (${best?.keys.length} of ${done.length})`;
    const rows = ranked.map(
      ({ shown, keys }) => `| ${shown.replaceAll('|', '\\|')} | ${keys.length} | ${keys.join(', ')} |`,
    );
    const reasons = done.map((part) => `${heading(part)}\n\n${part.text.trim()}\n`);
    return {
      ending: '.md',
      text: `# ${mergedOutputKey}\n\n${verdict}\n\n| vote | count | from |\n|---|---|---|\n${rows.join('\n')}\n\n${reasons.join('\n')}`,
    };
  },

  // Words of the results themselves: the server has no model of its own, and invents nothing.
  summarize: (done, { mergedOutputKey }) => ({
    ending: '.md',
    text: `# ${mergedOutputKey}\n\n${done.map((part) => `${heading(part)}\n\n${extract(part.text)}\n`).join('\n')}`,
  }),
};

function heading({ task }: Done): string {
  return `## ${task.output_key} (${task.agent})`;
}

function finished({ task }: Done): string {
  return `${task.result?.at ?? ''} ${task.task_id}`;
}

function jsonOr(text: string): unknown {
  const whole = text.trim();
  const isFenced = /^```json\s*\n/.test(whole) && whole.endsWith('\n```');
  const inner = isFenced ? whole.slice('```json'.length, -'```'.length) : text;
  const value = jsonIn(inner);
  return value === undefined ? text : value;
}

/** What a result votes for: its field of that meaning, or its first line. */
function ballot(text: string): string {
  const value = jsonOr(text);
  if (typeof value === 'object' && value !== null)
    for (const name of ['vote', 'verdict', 'decision', 'status', 'answer']) {
      const field = (value as Record<string, unknown>)[name];
      if (typeof field === 'string' || typeof field === 'number' || typeof field === 'boolean')
        return String(field).trim().slice(0, 200);
    }
  const line = text.split('\n').find((each) => /[\p{L}\p{N}]/u.test(each)) ?? '';
  return line
    .replace(/^[#>*\-\s]+/, '')
    .replace(/^\**(?:vote|verdict|decision|décision)\**\s*:\s*/i, '')
    .replace(/[*_`]/g, '')
    .trim()
    .replace(/[.!]$/, '')
    .slice(0, 200);
}

/** Headings, first paragraph and points of a text: where people put what matters. */
function extract(text: string): string {
  const value = jsonOr(text);
  if (typeof value === 'object' && value !== null)
    return fenced(cut(JSON.stringify(value, null, 2), 2_000), 'json');
  const blocks = text.replaceAll('\r\n', '\n').split(/\n{2,}/);
  const first = blocks.find((block) => /[\p{L}\p{N}]/u.test(block) && !/^\s*(?:#|[-*|>]|```)/.test(block));
  const points = text.split('\n').filter((line) => /^\s{0,3}(?:[-*]|\d+[.)])\s+\S/.test(line));
  const shown = points.slice(0, POINTS).map((line) => cut(line.trimEnd(), 200));
  const more = points.length > POINTS ? [`- … ${points.length - POINTS} more in the result`] : [];
  const lead = first === undefined ? [] : [cut(first.trim(), PARAGRAPH)];
  return (
    [...lead, ...(shown.length > 0 ? [[...shown, ...more].join('\n')] : [])].join('\n\n') ||
    cut(text.trim(), PARAGRAPH)
  );
}
