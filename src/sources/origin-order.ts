import { t } from '../base/text/message.ts';
import { quoted } from '../base/errors.ts';
import { fold } from '../base/text/suggest.ts';
import { kindCalled, originList, originsCalled, type Origin } from '../model/origin.ts';
import type { Source } from './tree.ts';

export interface Ordered {
  sources: Source[];
  /** Words of the order that say nothing, and why. */
  warnings: string[];
}

/**
 * The sources with the priorities that a custom order of origins gives them: first those it names, in its order, then the
 * others as usual.
 */
export function inOrder(sources: readonly Source[], order: readonly string[]): Ordered {
  if (order.length === 0) return { sources: [...sources], warnings: [] };
  const usual = sources.map(({ origin }) => origin).sort((a, b) => a.priority - b.priority);
  const entries = order.map((word, index) => ({ word, index, kind: kindCalled(word) }));
  const places = new Map<Origin, number>();
  // A name says more than a kind, wherever it stands.
  for (const { word, index } of [
    ...entries.filter(({ kind }) => kind === undefined),
    ...entries.filter(({ kind }) => kind !== undefined),
  ]) {
    const meant = originsCalled(word, usual).filter((origin) => !places.has(origin));
    const step = Math.min(0.01, 0.9 / Math.max(1, meant.length));
    for (const [at, origin] of meant.entries()) places.set(origin, index + 1 + at * step);
  }
  const warnings = entries.flatMap(({ word, index, kind }) => {
    const isSame = (other: (typeof entries)[number]): boolean =>
      kind === undefined ? fold(other.word) === fold(word) : other.kind === kind;
    if (entries.slice(0, index).some(isSame)) return [t`${quoted(word)} is there twice; the first counts`];
    return kind === undefined && originsCalled(word, usual).length === 0
      ? [t`${quoted(word)} is not an origin here, and is ignored; known: ${originList(usual)}`]
      : [];
  });
  return {
    warnings,
    sources: sources.map((source) => {
      const { origin } = source;
      const priority = places.get(origin) ?? order.length + origin.priority;
      return { ...source, origin: { ...origin, priority: Math.round(priority * 1e9) / 1e9 } };
    }),
  };
}
