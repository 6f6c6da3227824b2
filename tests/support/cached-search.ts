import { join } from 'node:path';
import { agentText } from '../../src/app/served-workspace.ts';
import { Keeper } from '../../src/base/files/keeper.ts';
import { createLog } from '../../src/base/log.ts';
import { createSecrets } from '../../src/base/secrets/rules.ts';
import { openContent } from '../../src/catalogue/build.ts';
import { diskCache, openKeptReadings } from '../../src/catalogue/kept-readings.ts';
import type { Embedder } from '../../src/meaning/vectors.ts';
import { openStaticEmbedder } from '../../src/meaning/embedders/static.ts';
import { qualifiedName, STARTABLE } from '../../src/model/record.ts';
import { readers } from '../../src/readers/index.ts';
import { createDelivery } from '../../src/services/delivery/delivery.ts';
import { createSearch } from '../../src/services/search/search.ts';
import { discoverSources } from '../../src/sources/discover.ts';
import { folderTree } from '../../src/sources/tree.ts';
import { repository } from './app.ts';

const log = createLog({ level: 'silent', write: () => undefined, json: false, secrets: createSecrets() });
const maxFileBytes = 1_000_000;
let model: Promise<Embedder> | undefined;

/** What was done anew, because it was not kept or could not be used. */
interface Made {
  read: boolean;
  described: number;
  /** How many texts; a question is one. */
  embedded: number;
}

/** A project as a process serves it that keeps everything in `cache`, however small the project is. */
export async function cachedSearch(project: string, cache: string) {
  const made: Made = { read: false, described: 0, embedded: 0 };
  const places = new Keeper();
  const found = { mode: 'local', project, paths: [], root: undefined, git: [], home: '' } as const;
  const { sources } = await discoverSources({ ...found, maxFileBytes, seen: places });
  const kept = openKeptReadings({
    places,
    memory: new Map(),
    files: diskCache(cache, 'catalogue'),
    writes: true,
    fromPlaces: 0,
    builtIn: project,
    maxFileBytes,
    log,
  });
  const all = async (): Promise<typeof readers> => {
    made.read = true;
    return readers;
  };
  const { catalogue } = await openContent(sources, all, [], async () => kept);
  const bmad = folderTree(join(project, '_bmad'), maxFileBytes);
  const delivery = createDelivery({
    catalogue,
    projectRoot: project,
    projectBmad: async () => bmad,
    today: () => '',
  });
  const embedder = await (model ??= openStaticEmbedder(join(repository, 'assets')));
  const search = createSearch({
    catalogue,
    describe(agent) {
      made.described += 1;
      return agentText(agent, delivery);
    },
    embedder: async () => ({
      ...embedder,
      embed(texts, signal) {
        made.embedded += texts.length;
        return embedder.embed(texts, signal);
      },
    }),
    cache: {
      files: diskCache(cache, 'search'),
      writes: true,
      fromRecords: 0,
      build: '',
      placesOf: (agents) => delivery.profilePlaces(agents),
      log,
    },
  });
  return {
    made,
    /** What a question finds, with everything that is said of it. */
    async answer(words: string): Promise<unknown[]> {
      const hits = await search.find({ words, kinds: STARTABLE, takes: () => true });
      return hits.map(({ record, score, weak, why }) => [qualifiedName(record), score, weak, why()]);
    },
    /** Settled when all is kept, or cannot be. */
    async kept(): Promise<void> {
      await kept.written();
      await search.index();
    },
  };
}
