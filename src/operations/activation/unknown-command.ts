import { quoted } from '../../base/errors.ts';
import { nearest } from '../../base/text/suggest.ts';
import type { Started } from './work-text.ts';

/** The command that a message begins with, and no word in italics. All agents can be asked for their menu, and left. */
export function commandIn(message: string): string | undefined {
  return /^\*(?!(?:help|menu|exit)\b)[a-z][\w-]*(?![\w*-])/i.exec(message.trim())?.[0];
}

const NAMED = 12;

/** That a command is none of this agent's, and which it has instead. */
export async function unknownCommand(
  { activation: { record, lead }, workspace: { delivery } }: Started,
  command: string | undefined,
  fitting: string | undefined,
): Promise<string | undefined> {
  if (command === undefined || lead === undefined) return undefined;
  const codes = (await delivery.profile(record)).menu.map(({ code }) => code.split(/\s/, 1)[0] ?? code);
  if (codes.length === 0) return undefined;
  const near = fitting === undefined ? nearest(command, codes) : [fitting];
  const instead =
    near.length === 0 ? `It has: ${codes.slice(0, NAMED).join(', ')}` : `Nearest: ${near.join(', ')}`;
  return `> ${quoted(command)} is unknown: no command of this agent. ${instead}.`;
}
