import { t } from '../../base/text/message.ts';
import { join } from 'node:path';
import { BmadError, unlessShort } from '../../base/errors.ts';
import { stateNames } from '../../base/files/file-state.ts';
import { listInside, readInside } from '../../base/files/files.ts';
import { agentsNamed, namesOf, type KitAgent } from '../agents.ts';
import type { KitEntry } from './entries.ts';
import { inProject, type Kit } from '../kit.ts';
import { bulletIn } from '../markdown.ts';
import { headingIn, withoutExamples } from '../../base/text/markdown.ts';

export const LEARNINGS_FOLDER = 'agent-learnings';
const MAX_BYTES = 10_000_000;

/** The learnings files there are, as paths in the memory folder, with the name of whom each belongs to. */
export async function learningsFiles(
  kit: Kit,
  problems: string[] = [],
): Promise<{ path: string; owner: string }[]> {
  if (kit.memory === undefined) return [];
  const told = problems.length;
  const inFolder = await listInside(kit.memory, LEARNINGS_FOLDER).catch((error: unknown) => {
    if (error instanceof BmadError && error.code !== 'not_found')
      problems.push(`${inProject(kit, LEARNINGS_FOLDER)}: ${error.message}`);
    return [];
  });
  const beside = await listInside(kit.memory, '').catch(unlessShort([]));
  if (told === problems.length) await tellAstray(kit, LEARNINGS_FOLDER, inFolder, problems);
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
    await readInside(memory, path, MAX_BYTES).catch((error: unknown) => {
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
