/** What is known about the use of one thing. */
export interface Use {
  /** How often it was started. */
  uses: number;
  /** When it was started last, in milliseconds since 1970. */
  last: number;
}

/** Each between 0 and 1. */
export interface Signals {
  recency: number;
  frequency: number;
  manifest: number;
  boost: number;
}

export type Weights = Readonly<Record<keyof Signals, number>>;

export const SIGNALS = ['recency', 'frequency', 'manifest', 'boost'] as const;

export interface SignalInput {
  use?: Use | undefined;
  /** What the manifests make of it, 0 to 100. */
  priority: number;
  boosted: boolean;
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
