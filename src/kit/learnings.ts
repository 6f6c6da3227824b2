import { BmadError } from '../base/errors.ts';
import { listInside, readInside } from '../base/files.ts';
import { nameKey } from '../base/same-name.ts';
import { agentsNamed, namesOf, sameAgent, type KitAgent } from './agents.ts';
import type { KitEntry } from './entry.ts';
import { inProject, type Kit } from './kit.ts';
import { bulletIn, withoutExamples } from './markdown.ts';

export const LEARNINGS_FOLDER = 'agent-learnings';
const MAX_BYTES = 10_000_000;

/** The learnings files there are, as paths in the memory folder, with the name of whom each belongs to. */
export async function learningsFiles(
  kit: Kit,
  problems: string[] = [],
): Promise<{ path: string; owner: string }[]> {
  if (kit.memory === undefined) return [];
  const inFolder = await listInside(kit.memory, LEARNINGS_FOLDER).catch((error: unknown) => {
    if (error instanceof BmadError && error.code !== 'not_found')
      problems.push(`${inProject(kit, LEARNINGS_FOLDER)}: ${error.message}`);
    return [];
  });
  const beside = await listInside(kit.memory, '').catch(() => []);
  return [
    ...inFolder
      .filter(({ name, kind }) => kind === 'file' && name.endsWith('.md'))
      .map(({ name }) => ({ path: `${LEARNINGS_FOLDER}/${name}`, owner: name.slice(0, -3) })),
    // Two older ways to name them.
    ...beside.flatMap(({ name, kind }) => {
      const owner = /^(?:agent-learnings-(.+)|(.+)-learnings)\.md$/.exec(name);
      return kind === 'file' && owner !== null ? [{ path: name, owner: owner[1] ?? owner[2] ?? '' }] : [];
    }),
  ];
}

/** The learnings of all agents, or of one, in the order of the files. */
export async function readLearnings(
  kit: Kit,
  agents: readonly KitAgent[],
  agent?: string,
): Promise<KitEntry[]> {
  const wanted = agent === undefined ? undefined : sameAgent(agents, agent).map(nameKey);
  const entries: KitEntry[] = [];
  for (const { path, owner } of await learningsFiles(kit)) {
    const text = await readInside(kit.memory ?? '', path, MAX_BYTES).catch(() => undefined);
    if (text !== undefined)
      entries.push(...learningsIn(text.toString('utf8'), owner, inProject(kit, path), agents));
  }
  return wanted === undefined
    ? entries
    : entries.filter(({ names }) => names.some((name) => wanted.includes(nameKey(name))));
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
    const heading = /^##\s+(\S+)\s*$/.exec(line)?.[1];
    if (heading !== undefined && agentsNamed(agents, heading).length > 0) agent = heading;
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
