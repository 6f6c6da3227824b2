import { basename } from 'node:path';
import { fold } from '../../base/suggest.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { BmadRecord } from '../../model/record.ts';

/**
 * What an entry of an agent's menu starts. Old agents name a file below the BMAD folder, under whatever name that had,
 * newer ones a skill. What the agent's own origin has is meant first; an entry that leads nowhere starts nothing.
 */
export function menuTarget(written: string, agent: BmadRecord, catalogue: Catalogue): BmadRecord | undefined {
  const named = written.replace(/^skill:/, '');
  const found = named.includes('/') ? byPath(named, agent, catalogue) : byName(named, catalogue);
  const own = found.find(({ origin }) => origin === agent.origin) ?? found[0];
  if (own?.deprecated?.successor === undefined) return own;
  // An old name stands for what replaced it.
  return (
    byName(own.deprecated.successor, catalogue).find(({ deprecated }) => deprecated === undefined) ?? own
  );
}

function byName(name: string, { winners }: Catalogue): BmadRecord[] {
  return winners.filter((record) => record.kind !== 'agent' && fold(record.name) === fold(name));
}

function byPath(written: string, agent: BmadRecord, { winners }: Catalogue): BmadRecord[] {
  const inProject = written.replace(/^\{project-root\}\//, '');
  const folders = ['{bmad_folder}', '_bmad', '.bmad', 'bmad', basename(agent.origin.root)];
  const folder = folders.find((name) => inProject.startsWith(`${name}/`));
  const path = folder === undefined ? inProject : inProject.slice(folder.length + 1);
  return winners.filter(({ bmadRelativePath }) => bmadRelativePath === path);
}
