import commands from '../../assets/names/commands.json' with { type: 'json' };
import { fold } from '../base/text/suggest.ts';

/**
 * What version 4 does by a command of an agent, where later versions have a workflow: under its name of today, the agent
 * and what it is told. Names alone are in the tables of `identity.ts`.
 */
export const COMMANDS = commands;

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
