import { join } from 'node:path';
import { unlessShort } from '../base/errors.ts';
import { listInside, readInside } from '../base/files/files.ts';
import { KeptByStamp } from '../base/files/file-stamps.ts';
import { nameKey } from '../base/text/suggest.ts';
import type { Kit } from './kit.ts';

/** An agent of the project under all the names that its files, its colleagues and its memories know it by. */
export interface KitAgent {
  /** The name of its file, which is its id. */
  id: string;
  tag?: string | undefined;
  display?: string | undefined;
  /** The name of its learnings file, without extension. */
  learnings: string;
}

const FOLDERS = ['_config/custom/agents', 'bmm/agents'];
const NO_AGENT = /tpl\.|proposed\.|template\.|readme/i;
const MAX_BYTES = 1_000_000;

/** Every call that names an agent asks for all of them. */
const kept = new KeptByStamp<KitAgent>();

/** The agents that the project has files of, in the order of their ids. */
export async function readKitAgents(kit: Kit): Promise<KitAgent[]> {
  const found = new Map<string, KitAgent>();
  for (const folder of FOLDERS) {
    const path = `${kit.folder}/${folder}`;
    const entries = await listInside(kit.root, path).catch(unlessShort([]));
    for (const { name, kind } of entries) {
      if (kind !== 'file' || !name.endsWith('.md') || NO_AGENT.test(name)) continue;
      const id = name.slice(0, -3);
      if (found.has(id)) continue;
      const agent = await kept.read(join(kit.root, path, name), async () => {
        const text = await readInside(kit.root, `${path}/${name}`, MAX_BYTES).catch(unlessShort(undefined));
        return agentIn(id, text?.toString('utf8') ?? '');
      });
      found.set(id, agent ?? agentIn(id, ''));
    }
  }
  return [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The files are not valid XML, so elements are looked up by name. */
function agentIn(id: string, text: string): KitAgent {
  const variable = (name: string): string | undefined =>
    new RegExp(String.raw`\b${name}=([\w.-]{1,100})`).exec(text)?.[1];
  const learnings = variable('LEARNINGS_FILE');
  return {
    id,
    tag: variable('AGENT_TAG'),
    display: variable('AGENT_NAME') ?? tagName(text),
    learnings: learnings === undefined || learnings.startsWith('.') ? id : learnings,
  };
}

function tagName(text: string): string | undefined {
  for (const [, attributes = ''] of text.matchAll(/<agent\b([^>]{0,600})/g)) {
    const name = /\bname="([^"]{1,100})"/.exec(attributes)?.[1];
    if (name !== undefined) return name;
  }
  return undefined;
}

/** All names of an agent; the first is its id. */
export function namesOf({ id, tag, learnings, display }: KitAgent): string[] {
  return [...new Set([id, tag, learnings, display?.toLowerCase()].filter((name) => name !== undefined))];
}

/** The agents whose own files have a name, the likeliest first: two may share a tag. */
export function agentsNamed(agents: readonly KitAgent[], name: string): KitAgent[] {
  const wanted = nameKey(name);
  const by = (part: (agent: KitAgent) => string | undefined): KitAgent[] =>
    agents.filter((agent) => nameKey(part(agent) ?? '') === wanted);
  return [
    ...new Set([
      ...by(({ id }) => id),
      ...by(({ learnings }) => learnings),
      ...by(({ tag }) => tag),
      ...by(({ display }) => display),
    ]),
  ];
}

/** Makes the id of an agent of any of its names; a name that is nobody's stays as it is. */
export function agentIds(agents: readonly KitAgent[]): (name: string) => string {
  return (name) => agentsNamed(agents, name)[0]?.id ?? name;
}
