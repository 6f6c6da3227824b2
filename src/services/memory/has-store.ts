import { kitAtHome, type Keeping } from '../../kit/home.ts';
import { isUsed, placeOf } from './place.ts';

/** Whether a project has a store of memories. By itself, because what opens one is large and most projects have none. */
export async function hasStore(root: string, state: string, keep: Keeping | undefined): Promise<boolean> {
  const { folder } = placeOf(await kitAtHome(root, state, keep), state);
  return isUsed(folder);
}
