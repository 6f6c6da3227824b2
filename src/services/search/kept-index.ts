import { Places } from '../../base/files/places.ts';
import type { Log } from '../../base/log.ts';
import { breath } from '../../base/pace.ts';
import { sha256 } from '../../base/sha256.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { KeptFiles } from '../../catalogue/kept-files.ts';
import { ANALYSER_VERSION } from '../../meaning/analyse.ts';
import { qualifiedName, type BmadRecord } from '../../model/record.ts';
import type { MeaningTable } from './meaning-index.ts';
import { packed, unpacked } from './packed.ts';
import { agentsAmong, type DescribedAgent } from './record-text.ts';
import type { WordTable } from './word-table.ts';

/** Fewer are indexed in hardly more time than it takes to find out whether they have changed. */
export const WORTH_KEEPING = 500;

/** Everything that one shelf is searched by. */
export interface ShelfIndex {
  described: DescribedAgent[];
  words: WordTable;
  /** Nothing where meaning is switched off. */
  meaning: MeaningTable | undefined;
}

/** Where indexes are kept for the next process. */
export interface IndexCache {
  files: KeptFiles;
  writes: boolean;
  /** How many records a shelf must have. */
  fromRecords: number;
  /** The build: another one makes other texts of the same content. */
  build: string;
  /** Where everything is, or may come to be, that decides what agents say of themselves. */
  placesOf(agents: readonly BmadRecord[]): Promise<readonly string[]>;
  log: Log;
}

/** One shelf as its texts are now, and what was kept of it. */
export type KeptIndex = Awaited<ReturnType<typeof openKeptIndex>>;

/** An index is used only for the very texts it was made from, and the very files that agents are described in. */
export async function openKeptIndex(
  { files, writes, build, placesOf, log }: IndexCache,
  shelf: string,
  catalogue: Catalogue,
  records: readonly BmadRecord[],
  model: string | undefined,
) {
  const agents = agentsAmong(records).map(({ agent }) => agent);
  const paths = await placesOf(agents);
  const sources = catalogue.sources.map(({ origin: { kind, root } }) => [kind, root]);
  const maker = [build, ANALYSER_VERSION, model];
  const name = sha256(JSON.stringify([shelf, model, sources])).slice(0, 32);
  const digest = sha256(JSON.stringify([maker, sources, paths, textsOf(catalogue, records)]));
  // Before anything is read: what changes meanwhile is noticed by the next who compares.
  const places = new Places();
  const { used } = await places.collecting(async () => {
    for (const path of paths) {
      await breath();
      places.look(path);
    }
  });
  const found = places.stampsOf(used);
  const stamps = found && [...found];
  let writing: Promise<boolean> = Promise.resolve(false);

  return {
    /** What was kept, if it is still right. */
    async restored(): Promise<ShelfIndex | undefined> {
      const before = unpacked(await files.read(name));
      if (before === undefined || stamps === undefined) return undefined;
      const { mark, index } = before;
      return mark.digest === digest && isSame(mark.paths, used) && isSame(mark.stamps, stamps)
        ? index
        : undefined;
    },
    /** Nobody waits for it, as nobody depends on it. */
    keep(index: ShelfIndex): void {
      if (!writes || stamps === undefined) return;
      writing = breath()
        .then(() => files.write(name, packed({ digest, paths: used, stamps }, index)))
        .catch((error: unknown) => {
          log.info('search cache', { error: String(error) });
          return false;
        });
    },
    /** Whether the last one is kept, once it is written or cannot be. */
    written: (): Promise<boolean> => writing,
  };
}

/** All that texts of records are made from, beside what agents say of themselves. What menus start is among the callable. */
function textsOf({ modules, callable }: Catalogue, records: readonly BmadRecord[]): unknown {
  const help = modules.map(({ code, help: rows, roster }) => [
    code,
    rows.map(({ skill, displayName, description, outputs }) => [skill, displayName, description, outputs]),
    roster.map(({ code: agent, description }) => [agent, description]),
  ]);
  const startable = callable.map((record) => [
    record.kind,
    qualifiedName(record),
    record.bmadRelativePath,
    record.origin.root,
    record.deprecated?.successor,
  ]);
  const own = records.map(({ kind, moduleName, name, ...more }) => [
    kind,
    moduleName,
    name,
    more.aliases,
    more.title,
    more.displayName,
    more.description,
    more.phase,
  ]);
  return [help, startable, own];
}

function isSame<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
