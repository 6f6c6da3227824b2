import { recordKey, type BmadRecord, type RecordKind } from '../model/record.ts';
import type { Catalogue } from './catalogue.ts';
import { overrideOf } from './names-in-force.ts';

/** What is served differently between two readings of the same places, each list in the order of the catalogue. */
export interface CatalogueChanges {
  added: readonly BmadRecord[];
  /** The records as they are now: another text, another origin, or another description. */
  changed: readonly BmadRecord[];
  /** The records as they were. */
  removed: readonly BmadRecord[];
  /** The kinds whose lists read differently now. */
  lists: readonly RecordKind[];
  /** Whether the list of files that a client may have seen is out of date. */
  files: boolean;
}

export async function compareCatalogues(before: Catalogue, after: Catalogue): Promise<CatalogueChanges> {
  const { added, removed, both } = paired(before.winners, after.winners);
  const changed = both.filter(
    ({ record, previous }) =>
      (record !== previous ||
        overrideOf(record, after.overrides) !== overrideOf(previous, before.overrides)) &&
      contentOf(record, after) !== contentOf(previous, before),
  );
  const reworded = changed.filter(({ record, previous }) => wordsOf(record) !== wordsOf(previous));
  const lists = new Set(
    [...added, ...removed, ...reworded.map(({ record }) => record)].map(({ kind }) => kind),
  );
  return {
    added,
    changed: changed.map(({ record }) => record),
    removed,
    lists: [...lists].sort(),
    // A client that has never seen the files cannot hold an outdated list of them.
    files: before.files.known !== undefined && !sameFiles(before.files.known, await after.files.all()),
  };
}

/** What is in both, by kind and name. */
function paired(before: readonly BmadRecord[], after: readonly BmadRecord[]) {
  const isAligned = (record: BmadRecord, previous: BmadRecord | undefined): boolean =>
    record === previous || (previous !== undefined && recordKey(record) === recordKey(previous));
  // After most edits they are the same, one after the other.
  if (before.length === after.length && after.every((record, at) => isAligned(record, before[at])))
    return {
      added: [],
      removed: [],
      both: after.map((record, at) => ({ record, previous: before[at] as BmadRecord })),
    };
  const old = new Map(before.map((record) => [recordKey(record), record]));
  const now = new Set(after.map(recordKey));
  return {
    added: after.filter((record) => !old.has(recordKey(record))),
    removed: before.filter((record) => !now.has(recordKey(record))),
    both: after.flatMap((record) => {
      const previous = old.get(recordKey(record));
      return previous === undefined ? [] : [{ record, previous }];
    }),
  };
}

function contentOf(record: BmadRecord, { overrides }: Catalogue): string {
  const { digest, customizable, bmadRelativePath, origin } = record;
  const own = [digest, customizable, overrideOf(record, overrides)];
  return JSON.stringify([wordsOf(record), own, bmadRelativePath, origin.root]);
}

/** What lists show of a record. */
function wordsOf({ title, displayName, icon, description, phase, deprecated, launches }: BmadRecord): string {
  return JSON.stringify([title, displayName, icon, description, phase, deprecated, launches]);
}

type Files = ReadonlyMap<string, { displayName: string }>;

function sameFiles(a: Files, b: Files): boolean {
  return (
    a.size === b.size && [...a].every(([path, origin]) => b.get(path)?.displayName === origin.displayName)
  );
}
