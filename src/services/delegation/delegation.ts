import { composeBrief } from './brief.ts';
import { earlierAgent, earlierAgents } from './earlier-agents.ts';
import { persona, type Person } from './prompts.ts';
import { consult, type DelegationHost, type DelegationLimits, type Order } from './consult.ts';

export type { ContextPart, Person } from './prompts.ts';

/** Work for an agent of the catalogue, done by a model or written down for one. */
export type Delegation = ReturnType<typeof createDelegation>;

const RECORD_BYTES = 60_000;

export function createDelegation(limits: DelegationLimits) {
  const { depth } = limits;
  return {
    limits,
    /** The agent that an earlier version of BMAD had under a name. */
    earlier: earlierAgent,
    earlierAgents,
    /** Who an agent is, as a text. */
    persona: (person: Person): string => persona(person).text,
    consult: (order: Order, host: DelegationHost) => consult(order, limits, host),
    /** The same work as a text, where no model can be asked. */
    brief: (order: Order, maxBytes: number) => composeBrief({ ...order, depth, maxBytes, isDone: false }),
    /** What was asked, to be kept beside the answer. */
    record: (order: Order): string =>
      composeBrief({ ...order, depth, maxBytes: RECORD_BYTES, isDone: true }).text,
  };
}
