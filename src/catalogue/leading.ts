import type { Origin, OriginKind } from '../model/origin.ts';
import type { BmadRecord } from '../model/record.ts';

/** Content from git is added to a project's own; it does not say which BMAD the project is of. */
const LEADING: ReadonlySet<OriginKind> = new Set(['project', 'cli', 'env', 'user']);

/** The modules that are BMAD itself, whatever else is installed. */
const METHOD: ReadonlySet<string> = new Set(['core', 'bmm', 'bmad-core']);

/**
 * The built-in content that lists leave out, because somebody has installed BMAD in another version: a project of
 * version 4 is not to be offered the workflows of version 6 beside its own. It still answers when it is called.
 */
export function asideOf(records: readonly BmadRecord[]): Origin | undefined {
  const builtIn = records.find(({ origin }) => origin.kind === 'package')?.origin;
  const own = records.find(
    ({ origin, moduleName, bmadVersion, exists }) =>
      exists && bmadVersion !== undefined && LEADING.has(origin.kind) && METHOD.has(moduleName),
  );
  if (builtIn?.bmadVersion === undefined || own?.bmadVersion === undefined) return undefined;
  return release(own.bmadVersion) === release(builtIn.bmadVersion) ? undefined : builtIn;
}

/** `6.12` of `6.12.0`: what changes with it is more than a repair. */
function release(version: string): string {
  return version.replace(/^v/, '').split('.').slice(0, 2).join('.');
}
