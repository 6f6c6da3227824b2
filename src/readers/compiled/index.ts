import { noted } from '../../base/errors.ts';
import { compare } from '../../base/text/text.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import type { Source } from '../../sources/tree.ts';
import type { Reader } from '../reader.ts';
import { agentsIn, readAgents } from './agents.ts';
import { kitFiles, understoodAgain } from './gather.ts';
import {
  entriesOf,
  type Finding,
  GENERATION,
  type Install,
  openInstall,
  recordFrom,
  Shelf,
} from './install.ts';
import { folderOf, insideModule, load, type LoadedFile, moduleOf } from './manifests.ts';
import { readModules } from './modules.ts';
import { readKnowledge, readSupporting, readTasks, supporting, tasksIn } from './tasks-and-material.ts';
import { readWorkflows, workflowFolders, workflowsIn } from './workflows.ts';

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
    const folders = new Set([...install.configs, ...modules.map(({ code }) => code)]);
    // In a folder that only looks like a module, nothing is left out.
    const told = problems.filter(({ file, mild }) => mild !== true || folders.has(moduleOf(file)));
    told.sort((a, b) => compare(a.file, b.file) || compare(a.message, b.message));
    return { records: shelf.records, modules, problems: withoutTwins(told) };
  },
};

/** A manifest is read for several purposes, and is wrong only once. */
function withoutTwins(problems: readonly Problem[]): Problem[] {
  return problems.filter(({ file, message }, index) => {
    const before = problems[index - 1];
    return before === undefined || before.file !== file || before.message !== message;
  });
}

/** One record again, after its file was edited. What else is in the install is as it was, and not looked at. */
async function readAgain(source: Source, record: BmadRecord): Promise<BmadRecord | undefined> {
  const problems: Problem[] = [];
  const install = await outlineOf(source, problems);
  const file = await load(source, record.bmadRelativePath, problems);
  if (file === undefined || file === 'missing') return undefined;
  const found = await findingAgain(install, file, record);
  if (found === undefined || problems.length > 0) return undefined;
  const { moduleVersion, bmadVersion } = record;
  return recordFrom(source, found, { moduleVersion, bmadVersion });
}

/** What can be said of an install without a walk through it. */
async function outlineOf(source: Source, problems: Problem[]): Promise<Install> {
  const entries = await source.tree.list('').catch(noted(problems, source.tree.root, []));
  const topLevel = new Set(entries.filter(({ kind }) => kind === 'folder').map(({ name }) => name));
  return {
    source,
    problems,
    configs: ['_config', '_cfg'].filter((name) => topLevel.has(name)),
    version: undefined,
    listedModules: new Map(),
    topLevel,
    moduleFolders: [],
    files: [],
    skillFiles: [],
    skillFolders: new Set(),
    known: new Set(),
    links: [],
  };
}

async function findingAgain(
  install: Install,
  file: LoadedFile,
  record: BmadRecord,
): Promise<Finding | undefined> {
  switch (record.kind) {
    case 'agent': {
      const ofKit = new Set(await kitFiles(install, 'agents'));
      return understoodAgain(install, agentsIn(install, ofKit), file, record);
    }
    case 'workflow': {
      const ofKit = new Set(await kitFiles(install, 'workflows'));
      const folders = workflowFolders({ files: await onTheWay(install, file.path) });
      return understoodAgain(install, workflowsIn(install, ofKit, folders), file, record);
    }
    case 'task':
    case 'tool':
      return understoodAgain(install, tasksIn(install, record.kind), file, record);
    case 'team':
    case 'template':
    case 'checklist':
      return supporting(install, file);
    case 'knowledge':
    case 'skill':
      // Knowledge counts once, whatever has it: others may have the same text now, or no more.
      return undefined;
  }
}

/** The files beside a workflow, and those of the folder that may group it with others. */
async function onTheWay({ source, problems }: Install, path: string): Promise<string[]> {
  const [first = '', group] = insideModule(path).split('/');
  const folders = new Set([folderOf(path), `${moduleOf(path)}/${first}/${group ?? ''}`]);
  const files: string[] = [];
  for (const folder of folders)
    if (path.startsWith(`${folder}/`))
      for (const { name, kind } of await entriesOf(source, folder, problems))
        if (kind === 'file') files.push(`${folder}/${name}`);
  return files;
}
