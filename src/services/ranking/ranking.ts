import { fold } from '../../base/text/suggest.ts';
import { shortName, type BmadRecord } from '../../model/record.ts';
import { scoreOf, signalsOf, SIGNALS, type Signals, type Use, type Weights } from './score.ts';
import type { UsageRead } from './usage.ts';
import { usedName } from './usage-lines.ts';

export interface RankingInput {
  usage: UsageRead;
  /** What the manifests make of a record, 0 to 100. */
  priority(record: BmadRecord): number;
  boost: readonly string[];
  weights: Weights;
  halfLifeMs: number;
  now: number;
}

interface RankedSignal {
  signal: keyof Signals;
  value: number;
  weight: number;
  points: number;
}

/** The ranking at one moment: a function of the history, the clock and the weights, and of nothing else. */
export interface Ranking {
  /** Between 0 and the sum of the weights; the higher, the sooner it should come. */
  rank(record: BmadRecord): number;
  signals(record: BmadRecord): readonly RankedSignal[];
  use(record: BmadRecord): Use | undefined;
  /** Whether it was started in this project or is boosted; all others differ only by what manifests say. */
  standsOut(record: BmadRecord): boolean;
  /** The highest first, equal ones by name: the order they come in has no say. */
  sorted(records: readonly BmadRecord[]): BmadRecord[];
  /** Those that stand out, the highest first, before the others, which stay in the order they are in. */
  lifted<T>(items: readonly T[], recordOf: (item: T) => BmadRecord | undefined): T[];
  /** Whether anything can stand out at all. */
  readonly isPlain: boolean;
  /** The moment it is about. */
  readonly now: number;
  /** Why the history could not be read. */
  readonly problem: string | undefined;
}

export function createRanking({ usage, priority, boost, weights, halfLifeMs, now }: RankingInput): Ranking {
  const boosted = new Set(boost.map((name) => fold(name)));
  const use = (record: BmadRecord): Use | undefined => usage.uses.get(usedName(record));
  const isBoosted = (record: BmadRecord): boolean =>
    boosted.size > 0 && namesOf(record).some((name) => boosted.has(name));
  const known = new WeakMap<BmadRecord, Signals>();

  function signals(record: BmadRecord): Signals {
    const found =
      known.get(record) ??
      signalsOf(
        { use: use(record), priority: priority(record), boosted: isBoosted(record) },
        now,
        halfLifeMs,
      );
    known.set(record, found);
    return found;
  }
  const rank = (record: BmadRecord): number => scoreOf(signals(record), weights);
  const standsOut = (record: BmadRecord): boolean => use(record) !== undefined || isBoosted(record);
  const byRank = (a: BmadRecord, b: BmadRecord): number =>
    rank(b) - rank(a) || (usedName(a) < usedName(b) ? -1 : usedName(a) > usedName(b) ? 1 : 0);

  return {
    now,
    isPlain: usage.uses.size === 0 && boosted.size === 0,
    problem: usage.problem,
    rank,
    use,
    standsOut,
    signals(record) {
      const values = signals(record);
      return SIGNALS.map((signal) => ({
        signal,
        value: values[signal],
        weight: weights[signal],
        points: weights[signal] * values[signal],
      }));
    },
    sorted: (records) => [...records].sort(byRank),
    lifted(items, recordOf) {
      const out: [(typeof items)[number], BmadRecord][] = [];
      const rest: (typeof items)[number][] = [];
      for (const item of items) {
        const record = recordOf(item);
        if (record !== undefined && standsOut(record)) out.push([item, record]);
        else rest.push(item);
      }
      return [...out.sort(([, a], [, b]) => byRank(a, b)).map(([item]) => item), ...rest];
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
