import { BmadError, quoted } from '../../base/errors.ts';
import { fold, nearest } from '../../base/text/suggest.ts';
import { qualifiedName, type BmadRecord } from '../../model/record.ts';
import type { Workspace } from '../context.ts';

/** The four phases of the method, whatever a release calls them. */
export const CATEGORIES = ['analysis', 'planning', 'solutioning', 'implementation', 'other'] as const;
export type Category = (typeof CATEGORIES)[number];

/** Folders were numbered up to 6.10; from 6.11 on they are `plan` and `ship`. Modules number phases of their own. */
const SIGNS: readonly (readonly [RegExp, Category])[] = [
  [/^1-|analysis/, 'analysis'],
  [/^2-|^plan$|planning/, 'planning'],
  [/^3-|solutioning/, 'solutioning'],
  [/^4-|^ship$|implementation/, 'implementation'],
];

const phasesByWorkspace = new WeakMap<Workspace, ReadonlyMap<string, readonly string[]>>();

/** The phases that help rows name, by module and skill; made once, for catalogues may have thousands of rows. */
function helpPhases(workspace: Workspace): ReadonlyMap<string, readonly string[]> {
  const known = phasesByWorkspace.get(workspace);
  if (known !== undefined) return known;
  const found = new Map<string, string[]>();
  for (const { code, help } of workspace.catalogue.modules) {
    for (const { skill, phase } of help) {
      const key = qualifiedName({ moduleName: code, name: skill });
      const phases = found.get(key);
      if (phases === undefined) found.set(key, [phase]);
      else phases.push(phase);
    }
  }
  phasesByWorkspace.set(workspace, found);
  return found;
}

/** The phases a record belongs to: that of its folder, and those its help rows name. */
export function phasesOf(record: BmadRecord, workspace: Workspace): string[] {
  const help = helpPhases(workspace).get(qualifiedName(record)) ?? [];
  return [record.phase ?? '', ...help].filter(Boolean);
}

/** Its own phase decides, then the folders its own folder is in; a name such as sprint-planning says nothing. */
export function categoryOf(record: BmadRecord, workspace: Workspace): Category {
  const folders = record.bmadRelativePath.split('/').slice(0, -2);
  for (const word of [...phasesOf(record, workspace), ...folders]) {
    const sign = SIGNS.find(([pattern]) => pattern.test(fold(word)));
    if (sign !== undefined) return sign[1];
  }
  return 'other';
}

/** A record belongs to the phase of its folder and to those its help rows name. */
export function inPhase(
  records: readonly BmadRecord[],
  category: string,
  workspace: Workspace,
): BmadRecord[] {
  const phases = (record: BmadRecord): string[] => phasesOf(record, workspace);
  const known = [...new Set(records.flatMap(phases))].sort();
  if (!known.some((phase) => fold(phase) === fold(category))) {
    throw new BmadError('not_found', `There is no category ${quoted(category)} here.`, {
      subject: category,
      suggestions: nearest(category, known),
      hint: `Known categories: ${[...known, 'deprecated'].join(', ')}.`,
    });
  }
  return records.filter((record) => phases(record).some((phase) => fold(phase) === fold(category)));
}
