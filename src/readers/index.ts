import { compiledReader } from './compiled/index.ts';
import { looseReader } from './loose/index.ts';
import type { Reader } from './reader.ts';
import { installedSkillsReader, skillsReader } from './skills/index.ts';
import { v4Reader } from './v4/index.ts';

/** All readers, newest format first. Each is run on every source. */
export const readers: readonly Reader[] = [
  skillsReader,
  installedSkillsReader,
  compiledReader,
  v4Reader,
  looseReader,
];
