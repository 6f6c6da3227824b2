import { activate } from './activate.ts';
import { bmad } from './bmad.ts';
import { complete } from './complete.ts';
import { configShow } from './config-show.ts';
import { describeAgents } from './describe-agents.ts';
import { doctor } from './doctor.ts';
import { explain } from './explain.ts';
import { listFiles } from './list-files.ts';
import { list } from './list.ts';
import { load } from './load.ts';
import type { AnyOperation } from './operation.ts';
import { findPrompt, listPrompts } from './prompts.ts';
import { read } from './read.ts';
import { listResources, readResource } from './resources.ts';
import { search } from './search.ts';
import { sourcesAdd } from './sources-add.ts';
import { sourcesApprove } from './sources-approve.ts';
import { sourcesClear } from './sources-clear.ts';
import { sourcesDiff } from './sources-diff.ts';
import { sourcesList } from './sources-list.ts';
import { sourcesRemove } from './sources-remove.ts';
import { sourcesResolve } from './sources-resolve.ts';
import { sourcesUpdate } from './sources-update.ts';

/** Every operation, in the order users see them. */
export const operations: readonly AnyOperation[] = [
  bmad,
  list,
  search,
  read,
  activate,
  explain,
  doctor,
  configShow,
  sourcesList,
  sourcesAdd,
  sourcesRemove,
  sourcesUpdate,
  sourcesDiff,
  sourcesApprove,
  sourcesClear,
  listPrompts,
  findPrompt,
  listResources,
  readResource,
  complete,
  load,
  describeAgents,
  listFiles,
  sourcesResolve,
];

export {
  activate,
  bmad,
  complete,
  describeAgents,
  findPrompt,
  list,
  listFiles,
  listPrompts,
  listResources,
  load,
  readResource,
  search,
  sourcesClear,
  sourcesList,
  sourcesResolve,
};
