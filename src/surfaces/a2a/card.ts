import type { AgentCard, AgentSkill } from '@a2a-js/sdk';
import { PRODUCT, VERSION } from '../../base/product.ts';
import { oneLine } from '../../base/text/text.ts';
import type { DescribedAgent } from '../../operations/catalogue/records.ts';

export interface CardFacts {
  /** Where the messages go. */
  url: string;
  agents: readonly DescribedAgent[];
  /** How many there are, also those that are not on the card. */
  total: number;
  /** Whether callers have to show who they are. */
  secured: boolean;
}

/** How many agents a card tells of: readers put the whole of it before a model. */
export const MOST_SKILLS = 200;
const DESCRIPTION = 300;
const EXAMPLES = 4;
const EXAMPLE = 120;
const TEXT = ['text/markdown', 'text/plain'];

/** What the server is for other agents: one agent, each of whose skills is an agent of the catalogue. */
export function agentCard({ url, agents, total, secured }: CardFacts): AgentCard {
  const more =
    total > agents.length
      ? ` ${agents.length} of ${total} agents are listed; the others can be named too.`
      : '';
  return {
    name: PRODUCT,
    description: `BMad Method agents that work for one project. A message becomes a task in the project’s queue, where a worker takes it or a person must approve it first. Name the agent in the message metadata ("skill" or "agent"), or let the text decide.${more}`,
    version: VERSION,
    supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({
      url,
      protocolBinding: 'JSONRPC',
      tenant: '',
      protocolVersion,
    })),
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: secured },
    securitySchemes: secured
      ? {
          bearer: {
            scheme: {
              $case: 'httpAuthSecurityScheme',
              value: { description: 'The server’s token.', scheme: 'Bearer', bearerFormat: '' },
            },
          },
        }
      : {},
    securityRequirements: secured ? [{ schemes: { bearer: { list: [] } } }] : [],
    defaultInputModes: [...TEXT, 'application/json'],
    defaultOutputModes: TEXT,
    skills: agents.map(skillOf),
    signatures: [],
  };
}

function skillOf(agent: DescribedAgent): AgentSkill {
  const { name, displayName, title, description, capabilities = [], module } = agent;
  const tags = new Set(['bmad', module ?? '', ...name.split(/[/-]/)].filter((tag) => tag !== ''));
  return {
    id: name,
    name: displayName === title ? title : `${displayName}, ${title}`,
    description: oneLine(description ?? title, DESCRIPTION),
    tags: [...tags],
    examples: capabilities.slice(0, EXAMPLES).map((text) => oneLine(text, EXAMPLE)),
    inputModes: [],
    outputModes: [],
    securityRequirements: [],
  };
}
