import earlier from '../../../assets/agents/earlier.json' with { type: 'json' };
import { agentTitled } from '../../base/text/agent-titles.ts';
import { fold } from '../../base/text/suggest.ts';
import type { Person } from './prompts.ts';

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
export function earlierAgent(asked: string): (Person & { from: string }) | undefined {
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
export const earlierAgents: readonly string[] = EARLIER.map(({ id }) => id);
