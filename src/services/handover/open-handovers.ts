import type { Kit } from '../../kit/kit.ts';
import { outputFolder } from '../../kit/output.ts';
import { DeliveryContracts } from './handovers.ts';
import { gather, type Choice, type Gathered } from './gather.ts';

export interface ContractDesk {
  contracts: DeliveryContracts;
  gather(choice: Choice): Promise<Gathered>;
}

/** A contract is for another team, so it lies in the project; one without an output folder has none and gets none. */
export async function openContracts(kit: Kit, userRuns: string): Promise<ContractDesk> {
  const output = await outputFolder(kit);
  return {
    contracts: new DeliveryContracts({
      root: kit.root,
      folder: output === undefined ? undefined : `${output}/contracts`,
      now: () => new Date(),
    }),
    gather: (choice) => gather(kit, userRuns, choice),
  };
}
