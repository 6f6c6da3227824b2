import { once } from '../base/async.ts';
import type { Log } from '../base/log.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Config } from '../config/schema.ts';
import type { BmadRecord } from '../model/record.ts';
import type { Ranking } from '../services/ranking/ranking.ts';
import type { Reranker } from '../services/ranking/reranker.ts';
import type { Usage } from '../services/ranking/usage.ts';
import type { Project } from '../sources/project-root.ts';

export interface RankingsSetup {
  config: Config;
  /** The user's folder for what has no place in a project. */
  state: string;
  /** Whether the program keeps running after a call; starts are then recorded when it is idle. */
  background: boolean;
  log: Log;
}

export interface Rankings {
  /** What was started in a project. */
  usage(project: Project): Promise<Usage>;
  /** The current ranking of a catalogue's records, in a project. */
  of(project: Project, catalogue: Catalogue): Promise<Ranking>;
  reranker(): Promise<Reranker>;
}

const DAY_MS = 86_400_000;
const GATHER_MS = 200;

/** The rankings of the projects in use. Nothing is loaded before something is started or put in order. */
export function createRankings({ config, state, background, log }: RankingsSetup): Rankings {
  const opened = new Map<string, Promise<Usage>>();
  const priorities = new WeakMap<Catalogue, (record: BmadRecord) => number>();

  function usage({ root }: Project): Promise<Usage> {
    const key = root ?? '';
    const known = opened.get(key);
    if (known !== undefined) return known;
    const made = import('../services/ranking/usage.ts').then(({ openUsage }) =>
      openUsage({
        state,
        root,
        writes: config.usage && !config.readOnly,
        reads: config.usage,
        now: () => Date.now(),
        gatherMs: background ? GATHER_MS : 0,
        log,
      }),
    );
    opened.set(key, made);
    return made;
  }

  return {
    usage,
    async of(project, catalogue) {
      const [{ createRanking }, { manifestPriorities }, noted] = await Promise.all([
        import('../services/ranking/ranking.ts'),
        import('../services/ranking/manifest-priority.ts'),
        usage(project),
      ]);
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
    reranker: once(async () => {
      const { createReranker } = await import('../services/ranking/reranker.ts');
      return createReranker({ enabled: config.rerank, timeMs: config.rerankMs });
    }),
  };
}
