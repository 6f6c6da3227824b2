import { listInside, readInside } from '../base/files/files.ts';
import { CUSTOM_AGENTS, MANIFESTS } from './project-marks.ts';

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

/** The ids of the agents that a project of the custom kit has, by the names of their files. */
export async function customAgents(project: string): Promise<string[]> {
  for (const folder of CUSTOM_AGENTS) {
    const files = await listInside(project, folder).catch(() => []);
    const own = files.flatMap(({ name, kind }) =>
      kind === 'file' && /^[a-z][\w-]{1,40}\.md$/.test(name) ? [name.slice(0, -3)] : [],
    );
    if (own.length > 0) return own.sort();
  }
  return [];
}
