import { once } from '../base/async.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { BmadRecord } from '../model/record.ts';
import type { Ranking } from '../services/ranking/ranking.ts';
import type { Reranker } from '../services/ranking/reranker.ts';
import type { Usage } from '../services/ranking/usage.ts';
import type { Project } from '../sources/project-root.ts';
import { createBounded } from '../base/values.ts';
import type { Settings } from './settings.ts';

export type Rankings = ReturnType<typeof createRankings>;

/** Each has the starts of one project in memory; what is still to be written is, even if it is left. */
const KEPT = 32;
const DAY_MS = 86_400_000;
const GATHER_MS = 200;

/** The rankings of the projects in use. Nothing is loaded before something is started or put in order. */
export function createRankings({ outside, config, state, log }: Settings) {
  const opened = createBounded<Promise<Usage>>(KEPT);
  const parts = once(() => import('./open-workspace.ts'));
  const priorities = new WeakMap<Catalogue, (record: BmadRecord) => number>();

  function usage({ root }: Project): Promise<Usage> {
    const key = root ?? '';
    const known = opened.get(key);
    if (known !== undefined) return known;
    const made = parts().then(({ openUsage }) =>
      openUsage({
        state,
        root,
        writes: config.usage && !config.readOnly,
        reads: config.usage,
        now: () => Date.now(),
        // A program that keeps running records starts when it is idle.
        gatherMs: outside.patient ? 0 : GATHER_MS,
        log,
      }),
    );
    opened.set(key, made);
    return made;
  }

  return {
    usage,
    async of(project: Project, catalogue: Catalogue): Promise<Ranking> {
      const [{ createRanking, manifestPriorities }, noted] = await Promise.all([parts(), usage(project)]);
      const priority = priorities.get(catalogue) ?? manifestPriorities(catalogue);
      priorities.set(catalogue, priority);
      return createRanking({
        usage: await noted.read(),
        priority,
        boost: config.boost,
        weights: {
          recency: config.rankRecency,
          frequency: config.rankFrequency,
          manifest: config.rankManifest,
          boost: config.rankBoost,
        },
        halfLifeMs: config.rankHalfLife * DAY_MS,
        now: Date.now(),
      });
    },
    reranker: once(async (): Promise<Reranker> => {
      const { createReranker } = await import('../services/ranking/reranker.ts');
      return createReranker({ enabled: config.rerank, timeMs: config.rerankMs });
    }),
  };
}
