import type { KitEntry } from './entry.ts';
import { museumIn, museumLog, type Failure } from '../museum/museum.ts';

export { texts } from '../museum/museum.ts';

export const MUSEUM_FILE = 'failure-museum.md';
export const MUSEUM_LOG = 'failure-museum.jsonl';

/** The failures of the page as something to recall. Where there is a log, numbered ones are there and say more. */
export function failuresIn(text: string, source: string, logged: boolean): KitEntry[] {
  return museumIn(text, source)
    .filter(({ id }) => !logged || id === undefined)
    .map(entryOf);
}

/** The log of the other family: one failure a line. */
export function loggedFailures(text: string, source: string, problems: string[]): KitEntry[] {
  return museumLog(text, source, problems).map(entryOf);
}

function entryOf({ id, agents, told, tags, date, source, line }: Failure): KitEntry {
  const agent = agents[0] ?? 'team';
  return { type: 'failures', agent, names: [agent], text: told, tags, date, source, line, number: id };
}
