import { noted } from '../../base/expected.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import type { Source } from '../../sources/source.ts';
import { agentsIn } from './agents.ts';
import { understoodAgain } from './gather.ts';
import { entriesOf, type Install } from './install.ts';
import { kitFiles } from './kit-files.ts';
import { insideModule, moduleOf } from './manifests.ts';
import { folderOf, load, type LoadedFile } from './reading.ts';
import { recordFrom, type Finding } from './shelf.ts';
import { supporting } from './supporting.ts';
import { tasksIn } from './tasks.ts';
import { workflowFolders, workflowsIn } from './workflows.ts';

/** One record again, after its file was edited. What else is in the install is as it was, and not looked at. */
export async function readAgain(source: Source, record: BmadRecord): Promise<BmadRecord | undefined> {
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
