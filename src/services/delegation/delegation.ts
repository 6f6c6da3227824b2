import earlier from '../../../assets/agents/earlier.json' with { type: 'json' };
import { agentTitled } from '../../base/text/agent-titles.ts';
import { fold } from '../../base/text/suggest.ts';
import { consult, type DelegationHost, type DelegationLimits } from './consult.ts';
import { composeBrief, type Order, type Person, persona } from './prompts.ts';

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

interface EarlierAgent {
  id: string;
  /** Its other ids, and roles that are not its title. */
  also?: readonly string[];
  name: string;
  title: string;
  /** The versions of BMAD that had it. */
  from: string;
  role: string;
  style: string;
  principles: readonly string[];
}

/**
 * Agents that BMAD had once and the built-in version has no file of. Projects go on naming them, in requests, memories and
 * tables of their team, so they can be asked: this is what they were for, in short.
 */
const EARLIER: readonly EarlierAgent[] = earlier;

/** The agent that BMAD once had under an id, a persona or a role; nothing for a name it never had. */
function earlierAgent(asked: string): (Person & { from: string }) | undefined {
  const wanted = fold(agentTitled(asked) ?? asked.replace(/^bmad-agent-/i, ''));
  const found = EARLIER.find(({ id, also = [], name, title }) =>
    [id, name, title, ...also].some((each) => fold(each) === wanted),
  );
  if (found === undefined) return undefined;
  const { id: handle, name, title, from, role, style, principles } = found;
  return {
    handle,
    name,
    title,
    from,
    parts: [
      { title: 'Role', text: role },
      { title: 'Communication style', text: style },
      { title: 'Principles', text: principles.map((each) => `- ${each}`).join('\n') },
    ],
    elsewhere: [],
  };
}

/** The ids of all of them, for suggestions. */
const earlierAgents: readonly string[] = EARLIER.map(({ id }) => id);
