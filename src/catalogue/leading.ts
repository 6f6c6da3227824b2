import { fold } from '../base/text/suggest.ts';
import type { Origin, OriginKind } from '../model/origin.ts';
import { shortName, type BmadRecord } from '../model/record.ts';
import { nameOfToday } from './identity.ts';
import { commandFor } from './old-commands.ts';

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

export interface CommandInstead {
  agent: BmadRecord;
  /** Without its star. */
  command: string;
}

/**
 * What a project of version 4 has in the place of a built-in workflow: a command of one of its agents. What it has under
 * the same name or an older one overrides the workflow already.
 */
export function commandInstead(
  record: BmadRecord,
  winners: readonly BmadRecord[],
): CommandInstead | undefined {
  if (record.kind === 'agent') return undefined;
  const old = commandFor(nameOfToday(fold(shortName(record.name))));
  if (old === undefined) return undefined;
  const agent = winners.find(
    ({ kind, name, generation }) => kind === 'agent' && generation === 'v4' && name === old.agent,
  );
  return agent === undefined ? undefined : { agent, command: old.command };
}

/** `6.12` of `6.12.0`: what changes with it is more than a repair. */
function release(version: string): string {
  return version.replace(/^v/, '').split('.').slice(0, 2).join('.');
}
