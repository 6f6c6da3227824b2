import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../bundle.ts';
import type { Program, ToolCall } from './client.ts';
import { madeWords } from './made-project.ts';
import { installedPeer, AGENT, titleOf, writePeerProject } from './peer.ts';

export type ContenderId = 'ours' | 'peer' | 'bare' | 'floor';

/** In the order of a first round: what is recalled has to be remembered before. Only the bare servers echo. */
export const OPERATIONS = [
  'list agents',
  'read an agent',
  'execute an agent',
  'search',
  'next',
  'remember',
  'recall',
  'echo',
] as const;
export type OperationName = (typeof OPERATIONS)[number];

export interface Contender extends Program {
  id: ContenderId;
  /** The calls measured on it, by the number of the round: nothing is remembered twice. */
  calls: Partial<Record<OperationName, (round: number) => ToolCall>>;
}

export interface Field {
  contenders: Contender[];
  ours: Contender;
  /** What the peer is, if there is one. */
  peer: string | undefined;
}

export interface Places {
  root: string;
  /** Kept between runs: the peer's package, its project and the bare server. */
  cache: string;
  /** An empty folder to run in. */
  empty: string;
  /** A home folder without any settings. */
  home: string;
}

const always = (call: ToolCall) => (): ToolCall => call;

/** A call of the tool that both our server and the peer have under this name. */
export function bmadCall(args: Record<string, unknown>, expected: string): ToolCall {
  return { name: 'bmad', arguments: args, expected };
}

export async function prepareContenders(places: Places, say: (line: string) => void): Promise<Field> {
  const env = cleanEnvironment(places.home);
  await mkdir(places.cache, { recursive: true });
  const ours: Contender = {
    id: 'ours',
    name: 'our server',
    args: [join(places.root, 'dist', 'bmad-mcp-server.cjs')],
    folder: places.empty,
    env,
    calls: {
      'list agents': always(bmadCall({ operation: 'list', query: 'agents' }, AGENT)),
      'read an agent': always(bmadCall({ operation: 'read', agent: AGENT }, `bmad-agent-${AGENT}`)),
      'execute an agent': always(
        // Whole each time, though the session has it.
        bmadCall({ operation: 'execute', agent: AGENT, message: 'hi', detail: 'full' }, '----- BEGIN'),
      ),
      search: always(bmadCall({ operation: 'search', query: 'plan the next sprint' }, 'sprint')),
      next: always(bmadCall({ operation: 'next' }, 'next')),
      remember: (round) => ({
        name: 'remember_structured',
        arguments: {
          type: 'decisions',
          agent: AGENT,
          text: `The database for part ${round} is PostgreSQL: ${madeWords(round + 1_000, 8)}.`,
        },
        expected: 'id ',
      }),
      recall: (round) => ({
        name: 'recall_structured',
        arguments: { query: `Which database do we use for the ${madeWords(round + 1_000, 2)}?` },
        expected: 'PostgreSQL',
      }),
    },
  };
  const contenders = [ours];
  const peer = await installedPeer(join(places.cache, 'peer'), say);
  if (peer !== undefined) {
    const folder = join(places.cache, 'project');
    await writePeerProject(folder);
    contenders.push({
      id: 'peer',
      name: 'the peer',
      args: [peer.entry],
      folder,
      env,
      calls: {
        'list agents': always(bmadCall({ operation: 'list', query: 'agents' }, titleOf(AGENT))),
        'read an agent': always(
          bmadCall({ operation: 'read', type: 'agent', agent: AGENT }, 'menu-handlers'),
        ),
        'execute an agent': always(
          bmadCall({ operation: 'execute', agent: AGENT, message: 'hi' }, `agent: ${AGENT}`),
        ),
      },
    });
  }
  // Bundled as our own programs are, so that they differ only in what is inside.
  const bareEntry = fileURLToPath(new URL('./bare-server.ts', import.meta.url));
  const floorEntry = fileURLToPath(new URL('./floor-server.ts', import.meta.url));
  await bundle({ entries: { bare: bareEntry, floor: floorEntry }, folder: places.cache });
  for (const [id, name] of [
    ['bare', 'the bare server'],
    ['floor', 'the server without any package'],
  ] as const)
    contenders.push({
      id,
      name,
      args: [join(places.cache, `${id}.cjs`)],
      folder: places.empty,
      env,
      calls: { echo: always({ name: 'echo', arguments: { text: 'hello' }, expected: 'hello' }) },
    });
  return { contenders, ours, peer: peer?.label };
}

/** The environment without what would make a contender read settings or content of this machine's user. */
export function cleanEnvironment(home: string): NodeJS.ProcessEnv {
  const foreign = /^(?:BMAD_|CLAUDE_|NODE_OPTIONS$|NODE_COMPILE_CACHE$|XDG_)/;
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  return { ...Object.fromEntries(kept), HOME: home, USERPROFILE: home, APPDATA: home, LOCALAPPDATA: home };
}
