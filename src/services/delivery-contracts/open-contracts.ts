import type { Kit } from '../../kit/kit.ts';
import { outputFolder } from '../../kit/output.ts';
import { BmadError } from '../../base/errors.ts';
import { DeliveryContracts } from './contracts.ts';
import { gather, type Choice, type Gathered } from './gather.ts';

export interface ContractDesk {
  contracts: DeliveryContracts;
  gather(choice: Choice): Promise<Gathered>;
}

/** A contract is for another team, so it lies in the project; one without an output folder has no place for it. */
export async function openContracts(kit: Kit, userRuns: string): Promise<ContractDesk> {
  const output = await outputFolder(kit);
  if (output === undefined)
    throw new BmadError('unavailable', 'The project has no output folder for delivery contracts.', {
      hint: 'Make a folder _bmad-output in the project, or install BMAD in it, then try again.',
    });
  return {
    contracts: new DeliveryContracts({
      root: kit.root,
      folder: `${output}/contracts`,
      now: () => new Date(),
    }),
    gather: (choice) => gather(kit, userRuns, choice),
  };
}
