import type { Kit } from '../../kit/kit.ts';
import { outputFolder } from '../../kit/output.ts';
import { Handovers } from './handovers.ts';
import { gather, type Choice, type HandoverMaterial } from './gather.ts';

export interface HandoverDesk {
  contracts: Handovers;
  gather(choice: Choice): Promise<HandoverMaterial>;
}

/** A contract is for another team, so it lies in the project; one without an output folder has none and gets none. */
export async function openHandovers(kit: Kit, userRuns: string): Promise<HandoverDesk> {
  const output = await outputFolder(kit);
  return {
    contracts: new Handovers({
      root: kit.root,
      folder: output === undefined ? undefined : `${output}/contracts`,
      now: () => new Date(),
    }),
    gather: (choice) => gather(kit, userRuns, choice),
  };
}
