import { t } from '../base/text/message.ts';
import { quoted } from '../base/errors.ts';
import { fold } from '../base/text/suggest.ts';
import { kindCalled, originList, originsCalled, type Origin } from '../model/origin.ts';
import { shortName, type BmadRecord } from '../model/record.ts';
import { otherNames } from './identity.ts';

/** An origin from which something is to come, whatever its rank. */
export interface Preference {
  /** What it is about: an agent, a workflow or a module by any name. */
  name: string;
  origins: ReadonlySet<Origin>;
}

/** Reads entries such as `analyst=package` or `bmm=user`. */
export function preferencesIn(
  entries: readonly string[],
  origins: readonly Origin[],
): { preferences: Preference[]; warnings: string[] } {
  const preferences: Preference[] = [];
  const warnings: string[] = [];
  for (const entry of entries) {
    const [, name = '', word = ''] = /^([^=]*)=([^=]*)$/.exec(entry) ?? [];
    const meant = originsCalled(word.trim(), origins);
    if (name.trim() === '' || word.trim() === '')
      warnings.push(t`${quoted(entry)} is not of the form name=origin, and is ignored`);
    else if (preferences.some((known) => known.name === fold(name.trim())))
      warnings.push(t`${quoted(name.trim())} is there twice; the first counts`);
    else if (meant.length > 0) preferences.push({ name: fold(name.trim()), origins: new Set(meant) });
    else if (kindCalled(word) === undefined)
      warnings.push(
        t`${quoted(word.trim())} is not an origin here, so ${quoted(entry)} is ignored; known: ${originList(origins)}`,
      );
  }
  return { preferences, warnings };
}

/** Whether a preference puts this record before those of other origins; one for itself counts before one for its module. */
export function isPreferred(record: BmadRecord, preferences: readonly Preference[]): boolean {
  if (preferences.every(({ origins }) => !origins.has(record.origin))) return false;
  const known = preferredBy(record);
  const own = preferences.filter(({ name }) => known.has(name));
  const about = own.length > 0 ? own : preferences.filter(({ name }) => name === fold(record.moduleName));
  return about.some(({ origins }) => origins.has(record.origin));
}

/** What a preference for this record may call it. */
export function preferredBy({ kind, moduleName, name }: BmadRecord): ReadonlySet<string> {
  const names = [name, shortName(name), ...otherNames(kind, name)].map(fold);
  return new Set([...names, ...names.map((each) => `${fold(moduleName)}/${each}`)]);
}
