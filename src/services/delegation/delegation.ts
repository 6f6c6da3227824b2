import { composeBrief } from './brief.ts';
import {
  consult,
  type DelegationLimits,
  type Order,
  type Consultation,
  type DelegationHost,
} from './consult.ts';

export type { DelegationLimits } from './consult.ts';
export type { ContextPart, Person } from './prompts.ts';

/** Work for an agent of the catalogue, done by a model or written down for one. */
export interface Delegation {
  limits: DelegationLimits;
  consult(order: Order, host: DelegationHost): Promise<Consultation>;
  /** The same work as a text, where no model can be asked. */
  brief(order: Order, maxBytes: number): { text: string; leftOut: string[] };
  /** What was asked, to be kept beside the answer. */
  record(order: Order): string;
}

const RECORD_BYTES = 60_000;

export function createDelegation(limits: DelegationLimits): Delegation {
  return {
    limits,
    consult: (order, host) => consult(order, limits, host),
    brief: (order, maxBytes) => composeBrief({ ...order, depth: limits.depth, maxBytes, isDone: false }),
    record: (order) =>
      composeBrief({ ...order, depth: limits.depth, maxBytes: RECORD_BYTES, isDone: true }).text,
  };
}
