import { kitAtHome, type Kit } from '../../src/kit/kit.ts';
import { receiptPlace, type ReceiptPlace } from '../../src/services/completion/receipts.ts';
import { teamLogs } from './team-state.ts';

/** A project as all services see it, with the state of its user beside it unless that is named. */
export const kitIn = (root: string, state = `${root}-user`): Promise<Kit> => kitAtHome(root, state);

/** The receipts of a project, as a process of their user sees them that has just begun. */
export const receiptsOf = async (root: string, state: string): Promise<ReceiptPlace> =>
  receiptPlace({
    kit: await kitAtHome(root, state),
    state,
    cache: `${state}/cache`,
    env: {},
    writes: true,
    logs: await teamLogs(root),
  });
