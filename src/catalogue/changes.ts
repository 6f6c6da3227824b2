import { qualifiedName, type BmadRecord, type RecordKind } from '../model/record.ts';
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
  const old = new Map(before.winners.map((record) => [keyOf(record), record]));
  const now = new Map(after.winners.map((record) => [keyOf(record), record]));
  const added = after.winners.filter((record) => !old.has(keyOf(record)));
  const removed = before.winners.filter((record) => !now.has(keyOf(record)));
  const kept = after.winners.flatMap((record) => {
    const previous = old.get(keyOf(record));
    return previous === undefined ? [] : [{ record, previous }];
  });
  const changed = kept.filter(
    ({ record, previous }) => contentOf(record, after) !== contentOf(previous, before),
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

function keyOf(record: BmadRecord): string {
  return `${record.kind} ${qualifiedName(record)}`;
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
