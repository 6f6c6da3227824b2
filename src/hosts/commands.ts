import { join } from 'node:path';
import { readState, stateNames, writeAtomic } from '../base/files/file-state.ts';
import { removeMade } from '../base/files/file-shared.ts';
import { missingFolders } from '../base/files/file-modes.ts';
import { SERVER_KEY } from '../base/product.ts';
import { sha256 } from '../base/values.ts';
import type { Connections } from './connect.ts';
import type { Scope } from './table.ts';

/** An agent that a command of a host starts. */
export interface CommandAgent {
  /** What it is called by: `architect`. */
  name: string;
  /** `Winston, System Architect`. */
  who: string;
}

/** The call with which an agent begins, in words that every host understands. */
export const startOf = ({ name }: CommandAgent, message: string): string =>
  `Call the tool \`bmad\` of the MCP server \`${SERVER_KEY}\` with operation "execute", agent "${name}" and message "${message}". Leave the message out if it is empty. Then follow the answer: become the agent it describes, and stay in character until you are asked to stop.`;

/** A command of the Gemini CLI. */
export const geminiCommand = (agent: CommandAgent): string =>
  `description = ${JSON.stringify(`Talk to ${agent.who} (BMAD)`)}\nprompt = ${JSON.stringify(startOf(agent, '{{args}}'))}\n`;

/** A folder of commands of a host, and the notes by which they are known as ours. */
export interface CommandFolder {
  folder: string;
  host: string;
  scope: Scope;
  inside: string | undefined;
  connections: Connections;
}

const SUFFIX = '.toml';

/** Whether a text is ours: the one that was written, or that before it, if it was not written in the end. */
function isWritten(text: string, known: Awaited<ReturnType<Connections['of']>>): boolean {
  return [known?.after, known?.former].includes(sha256(text));
}

/**
 * Writes a command for each agent, and answers with what people type. A file of that name that is not ours, or that
 * people have changed since, stays as it is.
 */
export async function writeCommands(
  { folder, host, scope, inside, connections }: CommandFolder,
  agents: readonly CommandAgent[],
  dry: boolean,
): Promise<string[]> {
  const typed: string[] = [];
  const missing = missingFolders(folder);
  for (const agent of agents) {
    const file = join(folder, `${agent.name}${SUFFIX}`);
    const [before, known] = [await readState(file, { inside }), await connections.of(file)];
    if (before !== undefined && !isWritten(before, known)) continue;
    typed.push(`/${SERVER_KEY}:${agent.name}`);
    const text = geminiCommand(agent);
    if (dry || text === before) continue;
    const folders = known?.folders ?? missing;
    // First the way back, then the change.
    await connections.keep(
      {
        file,
        hosts: [host],
        scope,
        created: true,
        folders,
        made: { key: false },
        after: sha256(text),
        ...(before === undefined ? {} : { former: sha256(before) }),
      },
      undefined,
    );
    await writeAtomic(file, text, { inside });
  }
  return typed;
}

/** Takes away those that are as they were written, and the folders that were made for them. */
export async function removeCommands(
  { folder, inside, connections }: CommandFolder,
  dry: boolean,
): Promise<string[]> {
  const typed: string[] = [];
  for (const name of await stateNames(folder, inside)) {
    const file = join(folder, name);
    const known = await connections.of(file);
    if (known === undefined) continue;
    const isOurs = isWritten((await readState(file, { inside })) ?? '', known);
    if (isOurs) typed.push(`/${SERVER_KEY}:${name.slice(0, -SUFFIX.length)}`);
    if (dry) continue;
    if (isOurs) await removeMade(file, known.folders, inside);
    await connections.forget(file);
  }
  return typed;
}
