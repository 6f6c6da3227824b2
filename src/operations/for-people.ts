import type { DecidedBy } from '../model/decision.ts';
import type { Call } from './context.ts';

/** Who has decided, in the records of what was decided on the page. */
export const ON_THE_PAGE = 'a person on the page';

/** How the person was asked who decides with this call. */
export function askedBy({ typed, ask, person }: Pick<Call, 'typed' | 'ask' | 'person'>): DecidedBy {
  if (typed === true) return ask === undefined ? 'flag' : 'terminal';
  return person === true ? 'page' : 'host';
}
