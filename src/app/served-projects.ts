import { type Said, t } from '../base/text/message.ts';
import { resolve } from 'node:path';
import { projectHints, type Outside } from './settings.ts';
import { BmadError, quoted } from '../base/errors.ts';
import { realFolder } from '../base/files/files.ts';
import type { Config } from '../config/schema.ts';
import { findProject, type Project } from '../sources/project-root.ts';

export interface ServedProjects {
  /** The one of calls that name none. */
  own: Project;
  allowed: readonly string[];
}

/**
 * What a server over HTTP serves. A folder that is not there is refused: its owner would learn of the mistake only when the
 * calls of others are.
 */
export async function servedProjects(
  outside: Outside,
  config: Config,
  configFrom: { readonly project: Said; readonly allowProjects: Said },
): Promise<ServedProjects> {
  const own = await findProject({ ...projectHints(outside, config), configuredBy: configFrom.project });
  const allowed: string[] = [];
  for (const folder of config.allowProjects) {
    const real = await realFolder(resolve(outside.cwd, folder));
    if (real === undefined)
      throw new BmadError('invalid_input', t`--allow-project: there is no folder ${quoted(folder)}.`, {
        hint: t`Name an existing folder. The value comes from ${configFrom.allowProjects}.`,
      });
    allowed.push(real);
  }
  return { own, allowed };
}
