import { kitAtHome } from '../../src/kit/home.ts';
import type { Kit } from '../../src/kit/kit.ts';

/** A project as all services see it, with the state of its user beside it unless that is named. */
export const kitIn = (root: string, state = `${root}-user`): Promise<Kit> => kitAtHome(root, state);
