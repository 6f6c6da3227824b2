import { mapLimited } from '../../base/async.ts';
import type { ModuleInfo } from '../../model/module.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import type { Source } from '../../sources/source.ts';
import { optionalText } from '../../sources/tree.ts';
import type { Reader } from '../reader.ts';
import { readModule } from './module.ts';
import { readShims, type Shims } from './shims.ts';
import { GENERATION, readSkill } from './skill.ts';

const READS_AT_ONCE = 16;

/** BMAD 6.11 and later as its package ships it: a folder a module, with `module.yaml` on top and skills below. */
export const skillsReader: Reader = {
  generation: GENERATION,
  async read(source) {
    const problems: Problem[] = [];
    const modules: ModuleInfo[] = [];
    const records: BmadRecord[] = [];
    for (const entry of await source.tree.list('')) {
      if (entry.kind !== 'folder' || /^[._]/.test(entry.name)) continue;
      const definition = await optionalText(source.tree, `${entry.name}/module.yaml`);
      if (definition === undefined) continue;
      const module = await readModule(source, entry.name, definition, problems);
      const { folders, shims } = await findSkills(source, entry.name, problems);
      modules.push(module);
      const found = await mapLimited(folders, READS_AT_ONCE, (folder) =>
        readSkill({ source, module, shims, folder }, problems),
      );
      records.push(...found.filter((record) => record !== undefined));
    }
    // The files are read side by side; the order of the report must not depend on which came first.
    problems.sort((a, b) => (a.file < b.file ? -1 : 1));
    return { records, modules, problems };
  },
};

/** The skill folders of a module. What lies below a skill belongs to that skill, even if it has a SKILL.md of its own. */
async function findSkills(
  source: Source,
  module: string,
  problems: Problem[],
): Promise<{ folders: string[]; shims: Shims }> {
  const folders: string[] = [];
  const shims: Shims = new Map();
  async function visit(folder: string): Promise<void> {
    const entries = await source.tree.list(folder);
    if (entries.some((entry) => entry.kind === 'file' && entry.name === 'SKILL.md')) {
      folders.push(folder);
      return;
    }
    if (folder.endsWith('-shims')) await readShims(source.tree, folder, shims, problems);
    for (const entry of entries) {
      if (entry.kind === 'folder' && !/^[._]/.test(entry.name)) await visit(`${folder}/${entry.name}`);
    }
  }
  await visit(module);
  return { folders, shims };
}
