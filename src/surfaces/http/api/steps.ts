import type { StepWriter } from '../../../base/step.ts';
import { OFFERED } from '../../../operations/offered.ts';
import { writtenArguments } from '../../../operations/offers.ts';
import { BASE } from './paths.ts';

/** A step as a request. What is for a person alone has no route. */
export const asRequest: StepWriter = (step) => {
  const { toolset, behind, serves } = OFFERED[step.operation] ?? {};
  if (toolset === undefined && behind === undefined && serves !== 'clients') return undefined;
  return `POST ${BASE}/${step.operation} ${JSON.stringify(writtenArguments(step))}`;
};
