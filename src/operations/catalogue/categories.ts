import { t } from '../../base/text/message.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { fold, nearest } from '../../base/text/suggest.ts';
import { qualifiedName, shortName, type BmadRecord } from '../../model/record.ts';
import type { Workspace } from '../context.ts';

/** The four phases of the method, whatever a release calls them. */
export const CATEGORIES = ['analysis', 'planning', 'solutioning', 'implementation', 'other'] as const;
/** How fields describe them. */
export const CATEGORY_WORDS = `${CATEGORIES.join(', ')}; or a phase of this BMAD`;
export type Category = (typeof CATEGORIES)[number];

/** Folders were numbered up to 6.10. Modules number phases of their own. */
const SIGNS: readonly (readonly [RegExp, Category])[] = [
  [/^1-|analysis/, 'analysis'],
  [/^2-|planning/, 'planning'],
  [/^3-|solutioning/, 'solutioning'],
  [/^4-|implementation/, 'implementation'],
];

/** From 6.11 on there are two phases, `plan` and `ship`; the same work was in these four before. */
const WORK: Readonly<Record<Exclude<Category, 'other'>, readonly string[]>> = {
  analysis: ['brainstorming', 'deep-recon', 'forge-idea', 'prfaq', 'product-brief', 'project-context'],
  planning: ['prd', 'spec', 'ux'],
  solutioning: ['architecture', 'create-epics-and-stories'],
  implementation: ['create-story', 'dev-story', 'sprint-planning'],
};
const BY_WORK = new Map(
  Object.entries(WORK).flatMap(([category, names]) => names.map((name) => [name, category as Category])),
);
const COARSE = new Map<string, Category>([
  ['plan', 'planning'],
  ['ship', 'implementation'],
]);

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
function phasesOf(record: BmadRecord, workspace: Workspace): string[] {
  const help = helpPhases(workspace).get(qualifiedName(record)) ?? [];
  return [record.phase ?? '', ...help].filter(Boolean);
}

/** Its own phase decides, then the folders its own folder is in; a name such as sprint-planning says nothing. */
export function categoryOf(record: BmadRecord, workspace: Workspace): Category {
  const folders = record.bmadRelativePath.split('/').slice(0, -2);
  const words = [...phasesOf(record, workspace), ...folders].map(fold);
  for (const word of words) {
    const sign = SIGNS.find(([pattern]) => pattern.test(word));
    if (sign !== undefined) return sign[1];
  }
  const known = BY_WORK.get(shortName(record.name));
  const coarse = words.find((word) => COARSE.has(word));
  return known ?? COARSE.get(coarse ?? '') ?? 'other';
}

/** `1-analysis` and `2-plan-workflows` are the folders of earlier versions for what is called analysis and planning. */
function categoryNamed(word: string): Category | undefined {
  const plain = fold(word)
    .replace(/^\d-/, '')
    .replace(/^plan-workflows$/, 'planning');
  return CATEGORIES.find((category) => category === plain);
}

/**
 * The records of a category, by either spelling, or of a phase that this BMAD has: that of their folder, and those their
 * help rows name. A category may be empty; a word that is neither throws an error that lists both.
 */
export function inCategory(
  records: readonly BmadRecord[],
  wanted: string,
  workspace: Workspace,
): BmadRecord[] {
  const category = categoryNamed(wanted);
  if (category !== undefined) return records.filter((record) => categoryOf(record, workspace) === category);
  const phases = (record: BmadRecord): string[] => phasesOf(record, workspace);
  const found = records.filter((record) => phases(record).some((phase) => fold(phase) === fold(wanted)));
  if (found.length > 0) return found;
  const known = [...new Set(records.flatMap(phases))].sort().slice(0, PHASES_NAMED);
  throw new BmadError('not_found', t`There is no category ${quoted(wanted)} here.`, {
    subject: wanted,
    suggestions: nearest(wanted, [...CATEGORIES, ...known]),
    hint: t`Categories: ${[...CATEGORIES, 'deprecated'].join(', ')}.${known.length === 0 ? '' : t` Phases of this BMAD: ${known.join(', ')}.`}`,
  });
}

const PHASES_NAMED = 30;

/** How many of the records each category has. */
export function categoryCounts(
  records: readonly BmadRecord[],
  workspace: Workspace,
): Partial<Record<Category, number>> {
  const counts: Partial<Record<Category, number>> = {};
  for (const record of records) {
    const own = categoryOf(record, workspace);
    counts[own] = (counts[own] ?? 0) + 1;
  }
  return counts;
}
