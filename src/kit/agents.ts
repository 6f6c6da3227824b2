import { join } from 'node:path';
import { unlessShort, BmadError } from '../base/errors.ts';
import { listInside, readInside } from '../base/files/files.ts';
import { KeptByStamp, mayBeThere } from '../base/files/file-stamps.ts';
import { Keeper, type Seen } from '../base/files/keeper.ts';
import { nameKey } from '../base/text/suggest.ts';
import { createBounded, shared } from '../base/values.ts';
import { type Kit, inProject } from './kit.ts';
import { t } from '../base/text/message.ts';
import { stateNames } from '../base/files/file-state.ts';
import type { KitEntry } from './memories/entries.ts';
import { bulletIn } from './text.ts';
import { headingIn, withoutExamples } from '../base/text/markdown.ts';

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
/** Projects whose agents are known. */
const MOST_KNOWN = 8;

/** Every call that names an agent asks for all of them. */
const kept = new KeptByStamp<KitAgent>();
const knownAgents = () =>
  shared('agents of projects', () => createBounded<{ keeper: Keeper; agents: KitAgent[] }>(MOST_KNOWN));

/** The agents that the project has files of, in the order of their ids. */
export async function readKitAgents(kit: Kit): Promise<readonly KitAgent[]> {
  const place = join(kit.root, kit.folder);
  const known = knownAgents();
  const before = known.get(place);
  if (before !== undefined && (await before.keeper.unchanged())) return before.agents;
  const keeper = new Keeper(kit.told);
  const agents = await agentsIn(kit, keeper);
  known.set(place, { keeper, agents });
  return agents;
}

async function agentsIn(kit: Kit, seen: Seen): Promise<KitAgent[]> {
  const found = new Map<string, KitAgent>();
  for (const folder of FOLDERS) {
    const path = `${kit.folder}/${folder}`;
    seen.look(join(kit.root, path));
    const entries = await listInside(kit.root, path).catch(unlessShort([]));
    for (const { name, kind } of entries) {
      if (kind !== 'file' || !name.endsWith('.md') || NO_AGENT.test(name)) continue;
      const id = name.slice(0, -3);
      if (found.has(id)) continue;
      seen.look(join(kit.root, path, name));
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

export const LEARNINGS_FOLDER = 'agent-learnings';
const MAX_LEARNINGS_BYTES = 10_000_000;

/** The learnings files there are, as paths in the memory folder, with the name of whom each belongs to. */
export async function learningsFiles(
  kit: Kit,
  problems: string[] = [],
): Promise<{ path: string; owner: string }[]> {
  if (kit.memory === undefined) return [];
  const told = problems.length;
  const isThere = mayBeThere(join(kit.memory, LEARNINGS_FOLDER));
  const inFolder = !isThere
    ? []
    : await listInside(kit.memory, LEARNINGS_FOLDER).catch((error: unknown) => {
        if (error instanceof BmadError && error.code !== 'not_found')
          problems.push(`${inProject(kit, LEARNINGS_FOLDER)}: ${error.message}`);
        return [];
      });
  const beside = await listInside(kit.memory, '').catch(unlessShort([]));
  if (isThere && told === problems.length) await tellAstray(kit, LEARNINGS_FOLDER, inFolder, problems);
  await tellAstray(kit, '', beside, problems);
  return [
    ...inFolder
      .filter(({ kind }) => kind === 'file')
      .flatMap(({ name }) => fileNamed(LEARNINGS_FOLDER, name)),
    ...beside.filter(({ kind }) => kind === 'file').flatMap(({ name }) => fileNamed('', name)),
  ];
}

/** In the folder every page is one; beside it there are two older ways to name them. */
function fileNamed(folder: string, name: string): { path: string; owner: string }[] {
  if (folder !== '')
    return name.endsWith('.md') ? [{ path: `${folder}/${name}`, owner: name.slice(0, -3) }] : [];
  const owner = /^(?:agent-learnings-(.+)|(.+)-learnings)\.md$/.exec(name);
  return owner === null ? [] : [{ path: name, owner: owner[1] ?? owner[2] ?? '' }];
}

/** A broken link, or one that points outside, is not read; anyone who looks for its content has to know. */
async function tellAstray(
  kit: Kit,
  folder: string,
  listed: readonly { name: string }[],
  problems: string[],
): Promise<void> {
  const { memory } = kit;
  if (memory === undefined) return;
  const known = new Set(listed.map(({ name }) => name));
  const names = await stateNames(join(memory, folder)).catch(() => []);
  for (const { path } of names.filter((name) => !known.has(name)).flatMap((name) => fileNamed(folder, name)))
    await readInside(memory, path, MAX_LEARNINGS_BYTES).catch((error: unknown) => {
      if (!(error instanceof BmadError)) throw error;
      problems.push(
        error.code === 'not_found'
          ? t`${inProject(kit, path)}: the link is broken.`
          : `${inProject(kit, path)}: ${error.message}`,
      );
    });
}

/** The entries of one file. A heading that is the name of an agent says whose the entries below it are. */
export function learningsIn(
  text: string,
  owner: string,
  source: string,
  agents: readonly KitAgent[],
): KitEntry[] {
  let agent = owner;
  const entries: KitEntry[] = [];
  for (const [index, line] of withoutExamples(text).entries()) {
    const heading = headingIn(line);
    if (heading?.level === 2 && agentsNamed(agents, heading.title).length > 0) agent = heading.title;
    const bullet = bulletIn(line);
    if (bullet === undefined) continue;
    const [known] = agentsNamed(agents, agent);
    entries.push({
      type: 'agent-learnings',
      agent: known?.id ?? agent,
      names: known === undefined ? [agent] : [...new Set([...namesOf(known), agent])],
      text: bullet.text,
      tags: [],
      date: bullet.date,
      source,
      line: index + 1,
    });
  }
  return entries;
}

/** The file an agent's new learnings belong into: the one its own instructions name. */
export function learningsFileOf(agents: readonly KitAgent[], agent: string): string {
  return `${LEARNINGS_FOLDER}/${agentsNamed(agents, agent)[0]?.learnings ?? agent}.md`;
}
