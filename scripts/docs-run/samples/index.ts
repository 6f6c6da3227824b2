import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { installOf, type Version } from '../../../tests/support/installs.ts';
import type { Preparation } from '../sample.ts';
import { code } from './code.ts';

/** A real install of BMAD in the project, without what belongs to other assistants. */
const installed =
  (version: Version, ...folders: string[]): Preparation =>
  async ({ project }) => {
    const install = await installOf(version);
    for (const folder of folders) await cp(join(install, folder), join(project, folder), { recursive: true });
  };

const inOrder =
  (...preparations: Preparation[]): Preparation =>
  async (sample) => {
    for (const prepare of preparations) await prepare(sample);
  };

/** The prepared projects that markers name with `in=`. */
export const SAMPLES: Readonly<Record<string, Preparation>> = {
  /** A folder with nothing in it: the built-in BMAD is served. */
  empty: () => undefined,
  /** A little shop in TypeScript, with a script for the completion contract. */
  code,
  '6.12': installed('6.12.0', '_bmad', '.claude'),
  '4.44.3': installed('4.44.3', '.bmad-core'),
  '4-and-6.12': inOrder(installed('4.44.3', '.bmad-core'), installed('6.12.0', '_bmad', '.claude')),
};
