import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../app.ts';
import { installOf, type Version } from '../installs.ts';

/** The installs that trees have files of; the trees are data, so these have to be there before. */
const INSTALLS = ['6.0.0-alpha.7', '6.0.4', '6.12.0'] as const satisfies Version[];
for (const version of INSTALLS) await installOf(version);

/** A file of a real install. */
export const real = (version: (typeof INSTALLS)[number], path: string): string =>
  readFileSync(join(repository, '.cache', 'installs', version, path), 'utf8');
