import type { ProgressItem } from '../answers.ts';

export const COLUMNS = ['backlog', 'ready', 'progress', 'review', 'done'] as const;
export type Column = (typeof COLUMNS)[number];

/** The words of all generations, in lower case; what none of them says is where the story stands by its state. */
export function columnOf({ state, status = '' }: Pick<ProgressItem, 'state' | 'status'>): Column {
  const word = status.toLowerCase();
  if (state === 'complete') return 'done';
  if (word.includes('review')) return 'review';
  if (word.includes('ready') || word === 'approved' || word === 'drafted') return 'ready';
  return state === 'in progress' ? 'progress' : 'backlog';
}

/** `1-2-cart-totals` and `1.2` are both of epic 1; what has no number is its own. */
export function epicOf(id: string): string {
  return /^(?:story-)?([a-z]?\d+)(?=[.-])/i.exec(id)?.[1] ?? id;
}

/** `1-2-cart-totals-with-tax` is `1.2 Cart totals with tax`. */
export function titleOf(id: string): string {
  const [, epic, story, rest] = /^(?:story-)?([a-z]?\d+)[.-](\d+[a-z]?)(?:-(.*))?$/i.exec(id) ?? [];
  if (epic === undefined || story === undefined) return id;
  const words = (rest ?? '').replaceAll('-', ' ').trim();
  return `${epic}.${story} ${words.charAt(0).toUpperCase()}${words.slice(1)}`.trim();
}
