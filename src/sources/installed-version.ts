import { readInside } from '../base/files/files.ts';
import { MANIFESTS } from './project-marks.ts';

const ENOUGH = 100_000;

/** Which BMAD is installed in a project, as its installer wrote it down; found without reading any content. */
export async function installedVersion(project: string): Promise<string | undefined> {
  for (const path of MANIFESTS) {
    const bytes = await readInside(project, path, ENOUGH).catch(() => undefined);
    const version = /^ {0,8}version: *["']?v?(\d[\w.-]{0,40})/m.exec(bytes?.toString('utf8') ?? '')?.[1];
    if (version !== undefined) return version;
  }
  return undefined;
}
