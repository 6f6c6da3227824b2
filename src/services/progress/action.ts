import type { Evidence } from './model.ts';
import type { Worker } from './workers.ts';

/** Something to do, why, and who does it. */
export interface Action {
  what: string;
  why: string;
  evidence: Evidence[];
  worker?: Worker;
  /** What the worker is told. */
  about?: string;
  /** Done with this product itself. */
  operation?: 'reconcile';
  optional?: true;
}

export function withWorker(worker: Worker | undefined): { worker?: Worker } {
  return worker === undefined ? {} : { worker };
}
