import { push } from '../../base/grouped.ts';
import { withoutEnds } from '../../base/text/ends.ts';
import { analyse } from '../../meaning/analyse.ts';
import { fold } from '../../meaning/words.ts';
import { isListed, qualifiedName, shortName, STARTABLE, type BmadRecord } from '../../model/record.ts';

export type Names = ReturnType<typeof createNames>;

interface OwnNames {
  handle: string;
  /** What it is called, and what else it answers to. */
  own: ReadonlySet<string>;
  other: ReadonlySet<string>;
}

/** The names of everything that is served; what is asked of them is put in order at the first question. */
export function createNames(served: readonly BmadRecord[], handleOf: (record: BmadRecord) => string) {
  const known = new Map<BmadRecord, OwnNames>();
  const byName: Record<'own' | 'other', Map<string, BmadRecord[]>> = { own: new Map(), other: new Map() };
  const terms = new Map<boolean, Map<string, Set<BmadRecord>>>();

  function of(record: BmadRecord): OwnNames {
    const names = known.get(record) ?? namesOf(record, handleOf(record));
    known.set(record, names);
    return names;
  }

  function having(which: 'own' | 'other', name: string): readonly BmadRecord[] {
    if (byName[which].size === 0)
      for (const record of served) for (const each of of(record)[which]) push(byName[which], each, record);
    return byName[which].get(name) ?? [];
  }

  /** The words in the names of what is not searched by its texts: old names, and material or what can be started. */
  function termsBeside(startable: boolean): Map<string, Set<BmadRecord>> {
    const made = new Map<string, Set<BmadRecord>>();
    for (const record of served) {
      if (isListed(record) && startable === STARTABLE.includes(record.kind)) continue;
      const { own, other } = of(record);
      for (const name of [...own, ...other])
        for (const term of analyse(name)) {
          const holding = made.get(term) ?? new Set();
          made.set(term, holding.add(record));
        }
    }
    return made;
  }

  return {
    of,
    having,
    /** What has all these words in its names, among what is not searched by its texts. */
    holding(startable: boolean): (asked: readonly string[]) => readonly BmadRecord[] {
      return (asked) => {
        if (asked.length === 0) return [];
        const beside = terms.get(startable) ?? termsBeside(startable);
        terms.set(startable, beside);
        const sets = asked.map((term) => beside.get(term) ?? new Set<BmadRecord>());
        const [least = new Set<BmadRecord>()] = sets.toSorted((a, b) => a.size - b.size);
        return [...least].filter((record) => sets.every((set) => set.has(record)));
      };
    },
  };
}

/** Case, accents and separators are ignored when names are compared. */
export function plainName(name: string): string {
  const plain = fold(name)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}/]+/gu, '-');
  return withoutEnds(plain, '-');
}

function namesOf(record: BmadRecord, handle: string): OwnNames {
  const own = [record.name, shortName(record.name), qualifiedName(record), handle];
  const other = [...record.aliases, record.displayName ?? '', record.title ?? ''];
  return { handle, own: plainNames(own), other: plainNames(other) };
}

function plainNames(names: readonly string[]): Set<string> {
  return new Set(names.map(plainName).filter((name) => name !== ''));
}
