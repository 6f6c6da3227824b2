import { join } from 'node:path';
import { once } from '../base/async.ts';
import { orElse, ours } from '../base/errors.ts';
import { readInside, realFolder } from '../base/files/files.ts';
import type { Keeper } from '../base/files/keeper.ts';
import { PERSON_FILE } from '../base/product.ts';
import { localDay } from '../base/text/text.ts';
import type { Catalogue, Preference } from '../catalogue/catalogue.ts';
import type { KeptInMemory, KeptReadings } from '../catalogue/kept-readings.ts';
import type { BuiltInModule } from '../model/module.ts';
import type { BmadRecord } from '../model/record.ts';
import type { Workspace } from '../operations/context.ts';
import type { Delivery } from '../services/delivery/delivery.ts';
import type { AgentText } from '../services/search/record-text.ts';
import type { Search } from '../services/search/search.ts';
import { diskSeenBy, folderTree, type Source } from '../sources/tree.ts';
import type { Project } from '../sources/project-root.ts';
import type { ServedSources } from './git-sources.ts';
import type { Rankings } from './rankings.ts';
import type { Model } from './codebases.ts';
import type { Settings } from './settings.ts';
import { fold } from '../base/text/suggest.ts';

/** What of the process a workspace uses. */
export interface WorkspaceParts {
  rankings: Rankings;
  gitSources: ServedSources;
  embedder: Model;
  /** What was read before, for all workspaces. */
  readings: KeptInMemory;
}

/** Where the content of a project comes from. */
export interface FoundSources {
  sources: Source[];
  preferences: Preference[];
  warnings: string[];
  git: Awaited<ReturnType<ServedSources['served']>>;
  /** Those that come with the server. */
  modules(): Promise<readonly BuiltInModule[]>;
  place: { contentRoot: string; maxFileBytes: number };
  /** The places that say what the sources are. */
  decisive: ReadonlySet<string>;
}

/** What a world is served from. */
interface ServedParts {
  project: Project;
  settings: Settings;
  parts: WorkspaceParts;
  keeper: Keeper;
  found: FoundSources;
  readings(): Promise<KeptReadings>;
  createDelivery: (typeof import('../services/delivery/delivery.ts'))['createDelivery'];
  bmadPlace: (typeof import('../sources/discover.ts'))['bmadPlace'];
}

/** What is served, with the built-in modules that lists leave out or without them. */
interface ServedContent {
  catalogue: Catalogue;
  delivery: Delivery;
  hasBeside: boolean;
}

/** Makes a workspace of every catalogue that the content of a project has in the course of time. */
export function servedWorkspaces(world: ServedParts): (catalogue: Catalogue) => Workspace {
  const { project, settings, parts, found, readings } = world;
  const { warnings, git, modules, place } = found;

  return (catalogue) => {
    /** A module that somebody has installed is theirs alone. */
    const beside = once(async () => {
      const installed = new Set(catalogue.winners.map(({ moduleName }) => moduleName));
      const chosen = chosenModules(settings.config.modules, await modules());
      return chosen.beside.filter(({ code }) => !installed.has(code));
    });
    const everything = once(async (): Promise<Workspace> => {
      const { withModules } = await import('./built-in-modules.ts');
      const more = await beside();
      if (more.length === 0) return workspaceOfAll;
      const whole = await withModules(catalogue, more, await modules(), place);
      const delivery = deliveryOf(world, whole);
      return workspaceOf(whole, { catalogue: whole, delivery, hasBeside: true });
    });
    const views = new Map<Catalogue, Workspace>();
    /** A view is of some of the origins of a world; what is delivered and known is the world's. */
    const workspaceOf = (view: Catalogue, content: ServedContent): Workspace => ({
      project,
      warnings,
      steps: git.steps,
      absent: git.absent,
      catalogue: view,
      delivery: content.delivery,
      beside,
      everything,
      from(some) {
        const chosen = view.from(some);
        const known = views.get(chosen) ?? workspaceOf(chosen, content);
        views.set(chosen, known);
        return known;
      },
      async warm(signal) {
        const kept = await readings();
        await kept.written();
        const search = await (await everything()).search();
        return { readings: kept.reports(), index: await search.index(signal) };
      },
      search: once(() => searchOf(world, view, content)),
      knowledge: once(async () => {
        const { createKnowledge } = await import('../services/knowledge/knowledge.ts');
        return createKnowledge(content.catalogue);
      }),
      async startedByCommands(folders) {
        const root = project.root === undefined ? undefined : await realFolder(project.root);
        if (root === undefined) return new Set();
        const { startedByCommands } = await import('../catalogue/host-commands.ts');
        return startedByCommands(folderTree(root, place.maxFileBytes), folders, content.catalogue.winners);
      },
      ranking: () => parts.rankings.of(project, content.catalogue),
    });
    const delivery = deliveryOf(world, catalogue);
    const workspaceOfAll = workspaceOf(catalogue, { catalogue, delivery, hasBeside: false });
    return workspaceOfAll;
  };
}

function deliveryOf(
  { project, settings, keeper, found, createDelivery, bmadPlace }: ServedParts,
  catalogue: Catalogue,
): Delivery {
  const { outside, privateFolders } = settings;
  const { root } = project;
  return createDelivery({
    catalogue,
    projectRoot: root,
    async projectBmad() {
      const folder = root === undefined ? undefined : await bmadPlace(root, '_bmad', diskSeenBy(keeper));
      return folder === undefined
        ? undefined
        : folderTree(folder, found.place.maxFileBytes, { within: folder, seen: keeper });
    },
    seen: keeper,
    today: () => localDay(new Date()),
    // Most users have none, and what reads it is not loaded for nothing. Callers of a shared server are other people.
    async withUser(kit) {
      if (outside.forOthers === true) return kit;
      const file = join(privateFolders.at(-1) ?? '', PERSON_FILE);
      return keeper.look(file) ? (await import('../hosts/person.ts')).withPerson(kit, file) : kit;
    },
  });
}

async function searchOf(
  { project, settings, parts, found }: ServedParts,
  view: Catalogue,
  { catalogue, delivery, hasBeside }: ServedContent,
): Promise<Search> {
  const { builtIn, cache, config, log } = settings;
  const [{ createSearch, TERMS_FILE, withTerms, WORTH_KEEPING }, { buildMark, diskCache }] =
    await Promise.all([import('../services/search/search.ts'), import('../catalogue/kept-readings.ts')]);
  return createSearch({
    cache: {
      files: diskCache(cache, 'search'),
      writes: !config.readOnly,
      fromRecords: WORTH_KEEPING,
      build: await buildMark(builtIn),
      placesOf: (agents) => delivery.profilePlaces(agents),
      log,
    },
    catalogue: view,
    describe: (agent) => agentText(agent, delivery),
    embedder: parts.embedder,
    terms: async () =>
      withTerms(await readInside(builtIn, TERMS_FILE, found.place.maxFileBytes).catch(orElse(undefined))),
    hasBeside,
    // What manifests say of everything has no say in what a sentence means; what people start here has.
    async ranking() {
      const ranking = await parts.rankings.of(project, catalogue);
      return (record) => (ranking.standsOut(record) ? ranking.rank(record) : 0);
    },
  });
}

/** What an agent says of itself; one whose file cannot be read is found by what is known of it. */
export async function agentText(agent: BmadRecord, delivery: Delivery): Promise<AgentText> {
  const { role, menu } = await delivery.profile(agent).catch(ours(() => ({ role: undefined, menu: [] })));
  return { role, menu: menu.map((item) => ({ text: item.text, starts: delivery.startedBy(item, agent) })) };
}

/** These are the method itself, and there whatever is chosen. */
export const METHOD: readonly string[] = ['core', 'bmm'];
export const ALL = 'all';
export const ONLY = 'only';

/**
 * What the setting `modules` makes of the modules that come with the server: those in lists and prompts, like the method itself,
 * and those beside them, for callers who name them or search.
 */
export function chosenModules(words: readonly string[], all: readonly BuiltInModule[]) {
  const chosen = new Set(words.map(fold));
  const isShown = ({ code }: BuiltInModule): boolean => chosen.has(ALL) || chosen.has(fold(code));
  return {
    shown: all.filter(isShown),
    beside: chosen.has(ONLY) ? [] : all.filter((module) => !isShown(module)),
  };
}
