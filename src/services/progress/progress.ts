import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Action } from './action.ts';
import { projectDocuments, type ProjectDocument } from './documents.ts';
import { nextActions } from './next-actions.ts';
import { proposals } from './proposal.ts';
import { reconcile, type Reconciled } from './reconcile.ts';
import { readReport, type Report } from './report.ts';
import { Workers } from './workers.ts';

export type { Action } from './action.ts';
export type { Item } from './model.ts';

interface NextStep {
  report: Report;
  actions: Action[];
}

/** How far a project is by what its files prove. Nothing is kept: every call reads anew. */
export interface Progress {
  next(catalogue: Catalogue): Promise<NextStep>;
  /** The story that is worked on and the plans, as they are. */
  documents(): Promise<ProjectDocument[]>;
  reconcile(options: { apply: boolean; proposal?: string | undefined }): Promise<Reconciled>;
}

export function createProgress(root: string): Progress {
  return {
    async next(catalogue) {
      const report = await readReport(root);
      const changes = proposals(report).reduce((sum, ledger) => sum + ledger.changes.length, 0);
      return { report, actions: nextActions(report, new Workers(catalogue), { changes }) };
    },
    documents: () => projectDocuments(root),
    reconcile: ({ apply, proposal }) => reconcile(root, { apply, proposal, now: new Date() }),
  };
}
