import { push } from '../../base/values.ts';
import { withoutEnds } from '../../base/text/text.ts';
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
  const byName: { own?: Map<string, Called[]>; other?: Map<string, Called[]> } = {};
  const terms = new Map<boolean, Map<string, Set<BmadRecord>>>();

  function of(record: BmadRecord): OwnNames {
    const names = known.get(record) ?? namesOf(record, handleOf(record));
    known.set(record, names);
    return names;
  }

  function having(which: 'own' | 'other', name: string): readonly BmadRecord[] {
    const index = (byName[which] ??= which === 'own' ? ownNames(served) : otherNames(served));
    return (index.get(name) ?? [])
      .filter(({ record, ifHandle }) => !ifHandle || plainName(handleOf(record)) === name)
      .map(({ record }) => record);
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

/** What has a name. */
interface Called {
  record: BmadRecord;
  /** Only if that is its handle, which is found out when somebody asks: of thousands it would take long. */
  ifHandle: boolean;
}

function ownNames(served: readonly BmadRecord[]): Map<string, Called[]> {
  const index = new Map<string, Called[]>();
  for (const record of served) {
    const sure = plainNames([record.name, shortName(record.name), qualifiedName(record)]);
    for (const name of sure) push(index, name, { record, ifHandle: false });
    // All other handles are among those names.
    const handle = plainName(`${record.moduleName}/${shortName(record.name)}`);
    if (!sure.has(handle)) push(index, handle, { record, ifHandle: true });
  }
  return index;
}

function otherNames(served: readonly BmadRecord[]): Map<string, Called[]> {
  const index = new Map<string, Called[]>();
  for (const record of served)
    for (const name of plainNames(alsoCalled(record))) push(index, name, { record, ifHandle: false });
  return index;
}

/** Most names are plain already. */
const PLAIN = /^[a-z0-9]+(?:[-/][a-z0-9]+)*$/;

/** Case, accents and separators are ignored when names are compared. */
export function plainName(name: string): string {
  if (PLAIN.test(name)) return name;
  const plain = fold(name)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}/]+/gu, '-');
  return withoutEnds(plain, '-');
}

function namesOf(record: BmadRecord, handle: string): OwnNames {
  const own = [record.name, shortName(record.name), qualifiedName(record), handle];
  return { handle, own: plainNames(own), other: plainNames(alsoCalled(record)) };
}

function alsoCalled({ aliases, displayName = '', title = '' }: BmadRecord): string[] {
  return [...aliases, displayName, title];
}

function plainNames(names: readonly string[]): Set<string> {
  return new Set(names.map(plainName).filter((name) => name !== ''));
}
