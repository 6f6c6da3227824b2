import type { Reader } from './reader.ts';
import { skillsReader } from './skills/index.ts';

/** All readers, newest format first. Each is run on every source. */
export const readers: readonly Reader[] = [skillsReader];
