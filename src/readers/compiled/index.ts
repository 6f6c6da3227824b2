import { compare } from '../../base/text/text.ts';
import type { Problem } from '../../model/record.ts';
import type { Reader } from '../reader.ts';
import { readAgain } from './again.ts';
import { readAgents } from './agents.ts';
import { openInstall } from './install.ts';
import { readKnowledge } from './knowledge.ts';
import { readModules } from './modules.ts';
import { GENERATION, Shelf } from './shelf.ts';
import { readSupporting } from './supporting.ts';
import { readTasks } from './tasks.ts';
import { readWorkflows } from './workflows.ts';

/**
 * Version 6 from its first alpha to 6.2.0: a folder a module with agents compiled to XML, workflows in YAML or Markdown,
 * and CSV manifests beside them. Manifests miss files and list ones that are gone, so both they and the disk are read.
 */
export const compiledReader: Reader = {
  generation: GENERATION,
  again: readAgain,
  async read(source) {
    const problems: Problem[] = [];
    const install = await openInstall(source, problems);
    if (install === undefined) {
      return { records: [], modules: [], problems: problems.filter(({ file }) => file === source.tree.root) };
    }
    const shelf = new Shelf(install);
    await readAgents(install, shelf);
    await readWorkflows(install, shelf);
    await readTasks(install, shelf, 'task');
    await readTasks(install, shelf, 'tool');
    await readKnowledge(install, shelf);
    await readSupporting(install, shelf);
    const modules = await readModules(install, shelf);
    // The files are read side by side; the order of the report must not depend on which came first.
    problems.sort((a, b) => compare(a.file, b.file) || compare(a.message, b.message));
    return { records: shelf.records, modules, problems: withoutTwins(problems) };
  },
};

/** A manifest is read for several purposes, and is wrong only once. */
function withoutTwins(problems: readonly Problem[]): Problem[] {
  return problems.filter(({ file, message }, index) => {
    const before = problems[index - 1];
    return before === undefined || before.file !== file || before.message !== message;
  });
}
