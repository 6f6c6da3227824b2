import { BmadError, quoted } from '../../base/errors.ts';
import { fold, nearest } from '../../base/text/suggest.ts';
import type { Origin } from '../../model/origin.ts';
import type { BmadRecord, RecordKind } from '../../model/record.ts';
import { inPhase } from './categories.ts';
import type { Workspace } from '../context.ts';

export interface SearchFilters {
  kinds: readonly RecordKind[];
  module: string | undefined;
  category: string | undefined;
  origin: string | undefined;
}

/** Whether a record passes all filters; a value that nothing here has is an error that names those there are. */
export function recordFilter(
  { kinds, module, category, origin }: SearchFilters,
  workspace: Workspace,
): (record: BmadRecord) => boolean {
  const { catalogue } = workspace;
  const code = module === undefined ? undefined : catalogue.names.moduleCode(module);
  const origins = origin === undefined ? undefined : originsCalled(origin, workspace);
  const ofKind = catalogue.winners.filter(({ kind }) => kinds.includes(kind));
  const phase = category === undefined ? undefined : new Set(ofPhase(ofKind, category, workspace));
  return (record) =>
    (code === undefined || record.moduleName === code) &&
    (origins === undefined || origins.has(record.origin)) &&
    (phase === undefined || phase.has(record));
}

/** Old names are a category of their own, as in lists. */
function ofPhase(
  records: readonly BmadRecord[],
  category: string,
  workspace: Workspace,
): readonly BmadRecord[] {
  return fold(category) === 'deprecated'
    ? records.filter(({ deprecated }) => deprecated !== undefined)
    : inPhase(records, category, workspace);
}

/** By kind, such as `project`, or by the name that lists show. */
function originsCalled(wanted: string, { catalogue }: Workspace): ReadonlySet<Origin> {
  const all = [...new Set(catalogue.winners.map(({ origin }) => origin))];
  const called = all.filter(({ kind, displayName }) =>
    [kind, displayName].some((name) => fold(name) === fold(wanted)),
  );
  if (called.length > 0) return new Set(called);
  const known = [...new Set(all.flatMap(({ kind, displayName }) => [kind, displayName]))];
  throw new BmadError('not_found', `There is no origin ${quoted(wanted)} here.`, {
    subject: wanted,
    suggestions: nearest(wanted, known),
    hint: `Known origins: ${known.map((name) => JSON.stringify(name)).join(', ') || 'none'}.`,
  });
}
