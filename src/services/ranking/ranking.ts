import { fold } from '../../base/text/suggest.ts';
import { madeOnce } from '../../base/values.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { ModuleInfo } from '../../model/module.ts';
import { type BmadRecord, isListed, recordKey, shortName } from '../../model/record.ts';
import type { UsageRead, Use } from './usage.ts';

/** Each between 0 and 1. */
export type Signals = Record<(typeof SIGNALS)[number], number>;

export type Weights = Readonly<Record<keyof Signals, number>>;

export const SIGNALS = ['recency', 'frequency', 'manifest', 'boost'] as const;

type SignalInput = { use?: Use | undefined; priority: number; boosted: boolean };

export interface RankingInput {
  usage: UsageRead;
  /** What the manifests make of a record, 0 to 100. */
  priority(record: BmadRecord): number;
  boost: readonly string[];
  weights: Weights;
  halfLifeMs: number;
  now: number;
}

export type Ranking = ReturnType<typeof createRanking>;

/** A list in two parts, by what they depend on: of thousands, only those that stand out are put in order with each call. */
interface Parted<T> {
  uses: UsageRead['uses'];
  boost: readonly string[];
  groups: { out: [T, BmadRecord][]; rest: T[] }[];
}

const parted = new WeakMap<readonly unknown[], Parted<unknown>>();

/** The ranking at one moment: a function of the history, the clock and the weights, and of nothing else. */
export function createRanking({ usage, priority, boost, weights, halfLifeMs, now }: RankingInput) {
  const boosted = new Set(boost.map((name) => fold(name)));
  const use = (record: BmadRecord): Use | undefined => usage.uses.get(recordKey(record));
  const isBoosted = (record: BmadRecord): boolean =>
    boosted.size > 0 && namesOf(record).some((name) => boosted.has(name));
  const signalsFor = madeOnce((record: BmadRecord) =>
    signalsOf({ use: use(record), priority: priority(record), boosted: isBoosted(record) }, now, halfLifeMs),
  );
  const rank = (record: BmadRecord): number => scoreOf(signalsFor(record), weights);
  const standsOut = (record: BmadRecord): boolean => use(record) !== undefined || isBoosted(record);
  const byRank = (a: BmadRecord, b: BmadRecord): number =>
    rank(b) - rank(a) || (recordKey(a) < recordKey(b) ? -1 : recordKey(a) > recordKey(b) ? 1 : 0);

  return {
    /** The moment it is about. */
    now,
    /** Whether anything can stand out at all. */
    isPlain: usage.uses.size === 0 && boosted.size === 0,
    /** Why the history could not be read. */
    problem: usage.problem,
    /** Between 0 and the sum of the weights; the higher, the sooner it should come. */
    rank,
    use,
    /** Whether it was started in this project or is boosted; all others differ only by what manifests say. */
    standsOut,
    signals(record: BmadRecord) {
      const values = signalsFor(record);
      return SIGNALS.map((signal) => ({
        signal,
        value: values[signal],
        weight: weights[signal],
        points: weights[signal] * values[signal],
      }));
    },
    /** The highest first, equal ones by name: the order they come in has no say. */
    sorted: (records: readonly BmadRecord[]): BmadRecord[] => [...records].sort(byRank),
    /**
     * Neighbours of the same group: those that stand out, the highest first, and the others, which stay in the order they
     * are in.
     */
    lifted<T>(
      items: readonly T[],
      recordOf: (item: T) => BmadRecord | undefined,
      groupOf: (item: T) => string,
    ): { out: readonly T[]; rest: readonly T[] }[] {
      const { uses } = usage;
      let found = parted.get(items) as Parted<T> | undefined;
      if (found?.uses !== uses || found.boost !== boost) {
        found = { uses, boost, groups: [] };
        parted.set(items, found);
        let last: string | undefined;
        for (const item of items) {
          const group = groupOf(item);
          if (group !== last) found.groups.push({ out: [], rest: [] });
          last = group;
          const record = recordOf(item);
          if (record !== undefined && standsOut(record)) found.groups.at(-1)?.out.push([item, record]);
          else found.groups.at(-1)?.rest.push(item);
        }
      }
      return found.groups.map(({ out, rest }) => ({
        out: out.toSorted(([, a], [, b]) => byRank(a, b)).map(([item]) => item),
        rest,
      }));
    },
  };
}

/** What a boost may call a record by: its module, its id long or short, alone or with the module. */
function namesOf({ moduleName, name }: BmadRecord): string[] {
  const short = shortName(name);
  return [moduleName, name, short, `${moduleName}/${name}`, `${moduleName}/${short}`].map((each) =>
    fold(each),
  );
}

/** Beyond this many starts, more of them make no difference. */
const MANY = 100;

/**
 * The signals at a moment. A start that the clock puts in the future counts as one of now: a clock that was wrong, or
 * was set back, lifts nothing above what is started this minute.
 */
export function signalsOf({ use, priority, boosted }: SignalInput, now: number, halfLifeMs: number): Signals {
  return {
    recency: use === undefined ? 0 : recencyOf(use.last, now, halfLifeMs),
    frequency: use === undefined ? 0 : share(Math.log1p(count(use.uses)) / Math.log1p(MANY)),
    manifest: share(priority / 100),
    boost: boosted ? 1 : 0,
  };
}

function recencyOf(last: number, now: number, halfLifeMs: number): number {
  if (!Number.isFinite(last) || !Number.isFinite(now) || !(halfLifeMs > 0)) return 0;
  return share(2 ** (-Math.max(0, now - last) / halfLifeMs));
}

/** The sum of weight × signal: between 0 and the sum of the weights, and never anything but a number. */
export function scoreOf(signals: Signals, weights: Weights): number {
  return SIGNALS.reduce((sum, name) => sum + count(weights[name]) * share(signals[name]), 0);
}

function share(value: number): number {
  return Number.isNaN(value) ? 0 : Math.min(1, Math.max(0, value));
}

function count(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0;
}

/**
 * How important the manifests declare something to be, 0 to 100. BMAD's files have no number for it, so it is read from
 * what they do say: an old name counts nothing; then comes what no manifest lists, what one lists, what the module's help
 * or roster presents, and what the help calls required.
 */
export function manifestPriority(record: BmadRecord, module: ModuleInfo | undefined): number {
  if (!isListed(record) || !record.exists) return 0;
  const rows = module?.help.filter((row) => row.skill === record.name) ?? [];
  if (rows.some((row) => row.required)) return 100;
  const presented = rows.length > 0 || module?.roster.some(({ code }) => code === record.name) === true;
  if (presented) return 75;
  return record.status === 'verified' ? 50 : 25;
}

/** The same for all records of a catalogue; each is computed one time. */
export function manifestPriorities({ modules }: Catalogue): (record: BmadRecord) => number {
  const byCode = new Map(modules.map((module) => [module.code, module]));
  return madeOnce((record) => manifestPriority(record, byCode.get(record.moduleName)));
}
