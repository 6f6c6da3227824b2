import type { Kit } from '../../kit/kit.ts';
import { isUsed, otherStore, placeOf } from './place.ts';

/** Whether a project has a store of memories. By itself, because what opens one is large and most projects have none. */
export async function hasStore(kit: Kit): Promise<boolean> {
  const place = placeOf(kit);
  return (await isUsed(place.folder)) || (await otherStore(place)) !== undefined;
}
