import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../bundle.ts';
import type { Program } from './client.ts';
import { installedPeer } from './peer.ts';
import { AGENT, titleOf, writePeerProject } from './peer-project.ts';

export type ContenderId = 'ours' | 'peer' | 'bare' | 'floor';

/** What the peer can do too; the rest is measured on ours alone. */
export const OPERATIONS = [
  'list agents',
  'read an agent',
  'execute an agent',
  'search',
  'next',
  'remember',
  'recall',
] as const;
export type OperationName = (typeof OPERATIONS)[number];

export interface ToolCall {
  name: string;
  arguments: Record<string, unknown>;
  /** A text that every right answer holds; the peer's errors look like ordinary answers otherwise. */
  expected: string;
}

export interface Contender extends Program {
  id: ContenderId;
  /** The calls measured on it; the bare servers have nothing to compare. */
  calls?: Partial<Record<OperationName, ToolCall>>;
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
      'list agents': bmadCall({ operation: 'list', query: 'agents' }, AGENT),
      'read an agent': bmadCall({ operation: 'read', agent: AGENT }, `bmad-agent-${AGENT}`),
      'execute an agent': bmadCall({ operation: 'execute', agent: AGENT, message: 'hi' }, 'Winston'),
      search: bmadCall({ operation: 'search', query: 'plan the next sprint' }, 'sprint'),
      next: bmadCall({ operation: 'next' }, 'next'),
      remember: {
        name: 'remember_structured',
        arguments: { type: 'decisions', agent: AGENT, text: 'We use PostgreSQL.' },
        // The first time it is remembered, then it is known.
        expected: 'id ',
      },
      recall: {
        name: 'recall_structured',
        arguments: { query: 'Which database do we use?' },
        // Whatever comes first, this or the memory.
        expected: 'n',
      },
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
        'list agents': bmadCall({ operation: 'list', query: 'agents' }, titleOf(AGENT)),
        'read an agent': bmadCall({ operation: 'read', type: 'agent', agent: AGENT }, 'menu-handlers'),
        'execute an agent': bmadCall(
          { operation: 'execute', agent: AGENT, message: 'hi' },
          `agent: ${AGENT}`,
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
    contenders.push({ id, name, args: [join(places.cache, `${id}.cjs`)], folder: places.empty, env });
  return { contenders, ours, peer: peer?.label };
}

/** The environment without what would make a contender read settings or content of this machine's user. */
export function cleanEnvironment(home: string): NodeJS.ProcessEnv {
  const foreign = /^(?:BMAD_|CLAUDE_|NODE_OPTIONS$|NODE_COMPILE_CACHE$|XDG_)/;
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  return { ...Object.fromEntries(kept), HOME: home, USERPROFILE: home, APPDATA: home, LOCALAPPDATA: home };
}
