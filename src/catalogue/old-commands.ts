import { fold } from '../base/text/suggest.ts';

/**
 * What version 4 does by a command of an agent, where later versions have a workflow: under its name of today, the agent
 * and what it is told. Names alone are in the tables of `identity.ts`.
 */
export const COMMANDS = {
  brainstorming: 'analyst *brainstorm',
  'product-brief': 'analyst *create-project-brief',
  'deep-recon': 'analyst *perform-market-research',
  'project-context': 'architect *document-project',
  prd: 'pm *create-prd',
  ux: 'ux-expert *create-front-end-spec',
  architecture: 'architect *create-full-stack-architecture',
  'create-epics-and-stories': 'pm *shard-prd',
  'check-implementation-readiness': 'po *execute-checklist-po',
  'sprint-planning': 'sm *draft',
  'create-story': 'sm *draft',
  'dev-story': 'dev *develop-story',
  build: 'dev *develop-story',
  'code-review': 'qa *review',
  help: 'bmad-orchestrator *help',
  'party-mode': 'bmad-orchestrator *party-mode',
} as const;

interface OldCommand {
  agent: string;
  /** Without its star. */
  command: string;
}

const parsed = (way: string): OldCommand => {
  const [agent = '', command = ''] = way.split(' *');
  return { agent, command };
};

/** The command that stands for what is called so today. */
export function commandFor(today: string): OldCommand | undefined {
  return Object.hasOwn(COMMANDS, today) ? parsed(COMMANDS[today as keyof typeof COMMANDS]) : undefined;
}

/** The agent that is meant by a command which several have. */
export function usualAgent(command: string): string | undefined {
  const ways = Object.values(COMMANDS).map(parsed);
  return ways.find((way) => way.command === fold(command))?.agent;
}
