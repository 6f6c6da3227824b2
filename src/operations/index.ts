import { activate } from './activate.ts';
import { bmad } from './bmad.ts';
import { complete } from './complete.ts';
import { configShow } from './config-show.ts';
import { doctor } from './doctor.ts';
import { explain } from './explain.ts';
import { list } from './list.ts';
import type { AnyOperation } from './operation.ts';
import { findPrompt, listPrompts } from './prompts.ts';
import { read } from './read.ts';
import { listResources, readResource } from './resources.ts';
import { refresh } from './refresh.ts';
import { search } from './search.ts';
import { getSkill, listSkillFolder, listSkills } from './skills.ts';

/** Every operation, in the order users see them. */
export const operations: readonly AnyOperation[] = [
  bmad,
  list,
  search,
  read,
  activate,
  explain,
  doctor,
  refresh,
  configShow,
  listPrompts,
  findPrompt,
  listResources,
  readResource,
  listSkills,
  getSkill,
  listSkillFolder,
  complete,
];

export {
  activate,
  bmad,
  complete,
  findPrompt,
  getSkill,
  listPrompts,
  listResources,
  listSkillFolder,
  listSkills,
  readResource,
};
