import { cp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from './app.ts';
import { copyFolder, writeFiles } from './folders.ts';
import { installOf, type Version } from './installs.ts';

/** A project that is filled anew for each case; its install is copied once. */
export interface ProgressProject {
  folder: string;
  fill(files: Readonly<Record<string, string>>): Promise<void>;
}

const KEPT: Partial<Record<Version, readonly string[]>> = { '4.44.3': ['.bmad-core'] };

export async function progressProject(
  onEnd: (cleanUp: () => Promise<void>) => void,
  install: Version | undefined,
): Promise<ProgressProject> {
  const folder = await temporaryFolder(onEnd);
  const from = install === undefined ? undefined : await installOf(install);
  const bmad = install === undefined ? [] : (KEPT[install] ?? ['_bmad', 'bmad', '.claude']);
  const configs: string[] = [];
  if (from !== undefined)
    for (const name of await readdir(from))
      if (bmad.includes(name)) {
        copyFolder(join(from, name), join(folder, name));
        configs.push(name);
      }
  let changed: string[] = [];
  return {
    folder,
    async fill(files) {
      for (const name of await readdir(folder))
        if (!configs.includes(name)) await rm(join(folder, name), { recursive: true, force: true });
      // What a case before wrote over the install is put back.
      for (const path of changed)
        if (from !== undefined) {
          await rm(join(folder, path), { force: true });
          await cp(join(from, path), join(folder, path)).catch(() => undefined);
        }
      changed = Object.keys(files).filter((path) => configs.some((name) => path.startsWith(`${name}/`)));
      await writeFiles(folder, files);
    },
  };
}
