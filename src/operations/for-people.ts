import type { DecidedBy } from '../model/decision.ts';
import type { Call } from './context.ts';

/**
 * What a person may do on the page beside what every program may: decisions that are a person's alone, and what is about the
 * user's own machine. The list is closed; what is not on it can be done at the command line only.
 */
export const FOR_PEOPLE = [
  'inbox',
  'task_approve',
  'task_approve_all',
  'task_refuse',
  'sources_list',
  'sources_diff',
  'sources_update',
  'sources_approve',
  'delivery_accept',
  'delivery_reject',
  'trust',
  'reconcile_ledgers',
  'memory_update',
  'memory_forget',
  'memory_restore',
  'memory_supersede',
  'memory_keep_both',
  'memory_pairs',
  'usage_show',
  'config_show',
  'hosts_show',
  'prefer_origin',
] as const;

/** Who has decided, in the records of what was decided on the page. */
export const ON_THE_PAGE = 'a person on the page';

/** How the person was asked who decides with this call. */
export function askedBy({ typed, ask, person }: Pick<Call, 'typed' | 'ask' | 'person'>): DecidedBy {
  if (typed === true) return ask === undefined ? 'flag' : 'terminal';
  return person === true ? 'page' : 'host';
}
