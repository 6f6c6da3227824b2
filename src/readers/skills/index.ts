import { mapLimited } from '../../base/async.ts';
import type { ModuleInfo } from '../../model/module.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import type { Reader } from '../reader.ts';
import { readable, READS_AT_ONCE } from '../reading.ts';
import { BESIDE_SKILL, findSkills, readBare, readSkill, readSkillAgain } from './skill.ts';
import { readKnowledge } from './knowledge.ts';
import { readModule } from './modules.ts';

const GENERATION = 'skills-6.11';

/** BMAD 6.11 and later as its package ships it: a folder a module, with `module.yaml` on top and skills below. */
export const skillsReader: Reader = {
  generation: GENERATION,
  beside: BESIDE_SKILL,
  again: readSkillAgain,
  async read(source) {
    const problems: Problem[] = [];
    const modules: ModuleInfo[] = [];
    const records: BmadRecord[] = [];
    for (const entry of await source.tree.list('')) {
      if (entry.kind !== 'folder' || /^[._]/.test(entry.name)) continue;
      // A module whose definition cannot be read costs itself, not the others.
      const definition = await readable(source.tree, `${entry.name}/module.yaml`, problems);
      if (definition === undefined) continue;
      const module = await readModule(source, entry.name, definition, problems);
      const { folders, bare, shims } = await findSkills(source.tree, entry.name, problems);
      modules.push(module);
      const common = { generation: GENERATION, bmadVersion: source.origin.bmadVersion };
      const found = await mapLimited(folders, READS_AT_ONCE, (folder) =>
        readSkill({ ...common, source, module, shims, folder, filedUnder: folder, listed: true }, problems),
      );
      records.push(...found.filter((record) => record !== undefined));
      const known = await mapLimited(bare, READS_AT_ONCE, (folder) =>
        readBare(source, module, folder, common, problems),
      );
      records.push(...known.filter((record) => record !== undefined));
      const shelves = folders.map((folder) => ({ folder, module: module.code }));
      records.push(...(await readKnowledge(source, shelves, common, problems)));
    }
    // The files are read side by side; the order of the report must not depend on which came first.
    problems.sort((a, b) => (a.file < b.file ? -1 : 1));
    return { records, modules, problems };
  },
};
