import { t } from '../base/text/message.ts';
import { basename, join, resolve } from 'node:path';
import { orElse, ours } from '../base/expected.ts';
import { once } from '../base/async.ts';
import { readInside, realFolder } from '../base/files/files.ts';
import { PERSON_FILE } from '../base/product.ts';
import type { Places } from '../base/files/places.ts';
import { stepLines } from '../base/step.ts';
import { localDay } from '../base/text/local-time.ts';
import type { Content } from '../catalogue/build.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { KeptInMemory } from '../catalogue/kept-readings.ts';
import { preferencesIn, type Preference } from '../catalogue/preferences.ts';
import type { BmadRecord } from '../model/record.ts';
import type { Context, Workspace } from '../operations/context.ts';
import type { Rankings } from './rankings.ts';
import type { Delivery } from '../services/delivery/delivery.ts';
import type { AgentText } from '../services/search/record-text.ts';
import { diskSeenBy } from '../sources/disk.ts';
import { builtInModules } from '../sources/module-list.ts';
import { inOrder } from '../sources/origin-order.ts';
import type { Source } from '../sources/source.ts';
import type { Reader } from '../readers/reader.ts';
import type { Project } from '../sources/project-root.ts';
import { folderTree } from '../sources/tree.ts';
import type { Model } from './built-in-model.ts';
import { chosenModules, METHOD } from './module-choice.ts';
import type { ServedSources } from './git-sources.ts';
import type { Settings } from './settings.ts';

/** Whoever opens a workspace puts what is in it in order: this is loaded with it, not with the start. */
export { createRanking } from '../services/ranking/ranking.ts';
export { manifestPriorities } from '../services/ranking/manifest-priority.ts';
export { openUsage } from '../services/ranking/usage.ts';
export { liveSettings } from './live-settings.ts';
export { createWorkspaces } from './workspaces.ts';

/** What of the process a workspace uses. */
export interface WorkspaceParts {
  rankings: Rankings;
  gitSources: ServedSources;
  embedder: Model;
  /** What was read before, for all workspaces. */
  readings: KeptInMemory;
}

/** A world, and how it goes on. */
export interface Opened {
  workspace: Workspace;
  /**
   * The same after these places, and nothing else, have changed; nothing where everything has to be found and read again.
   * `files`: which files there are is as it was.
   */
  renewed(changed: readonly string[], files: boolean): Promise<Opened | undefined>;
}

/** What is served, with the built-in modules that lists leave out or without them. */
interface ServedContent {
  catalogue: Catalogue;
  delivery: Delivery;
}

/** Finds and reads everything for one project. What it needs is loaded here, after the first answer to the client. */
export async function openWorkspace(
  project: Project,
  { outside, config, from, log, cache, builtIn, privateFolders }: Settings,
  { gitSources, rankings, embedder, readings }: WorkspaceParts,
  places: Places,
): Promise<Opened> {
  const [{ packageSource }, { discoverSources, bmadPlace }, { openContent }, { createDelivery }] =
    await Promise.all([
      import('../sources/package.ts'),
      import('../sources/discover.ts'),
      import('../catalogue/build.ts'),
      import('../services/delivery/delivery.ts'),
    ]);
  const { maxFileBytes, discovery } = config;
  const git = await gitSources.served();
  const discovered = await places.collecting(() =>
    discoverSources({
      git: git.mounts,
      mode: discovery,
      project: project.root,
      paths: config.paths.map((path) => resolve(outside.cwd, path)),
      root: config.root === undefined ? undefined : resolve(outside.cwd, config.root),
      home: outside.home,
      maxFileBytes,
      seen: places,
    }),
  );
  const { sources: found, warnings } = discovered.result;
  const decisive = new Set(discovered.used);
  warnings.push(...git.warnings);
  if (discovery === 'auto') found.push(await packageSource(outside.contentRoot, maxFileBytes));
  const place = { contentRoot: outside.contentRoot, maxFileBytes };
  const modules = once(async () =>
    discovery === 'auto' ? builtInModules(outside.contentRoot, maxFileBytes) : [],
  );
  // Those that are not shown are read when somebody asks for something that only they have.
  if (config.modules.some((code) => !METHOD.includes(code))) {
    const { moduleSources, unknownModules } = await import('./built-in-modules.ts');
    const all = await modules();
    found.push(...moduleSources(chosenModules(config.modules, all).shown, all, place));
    warnings.push(
      ...unknownModules(config.modules, all).map((text) => t`modules (${from.modules}): ${text}.`),
    );
  }
  const { sources, preferences } = chosenOrigins(found, config, from, warnings);
  for (const warning of warnings) log.warn(warning);
  if (git.steps.length > 0) {
    const { commandLine } = await import('../operations/on-demand.ts');
    for (const line of stepLines(git.steps, commandLine)) log.warn(line);
  }
  const kept = once(async () => {
    const { keptFiles, openKeptReadings, WORTH_WRITING } = await import('../catalogue/kept-readings.ts');
    return openKeptReadings({
      places,
      memory: readings,
      files: keptFiles(cache, 'catalogue'),
      writes: !config.readOnly,
      fromPlaces: WORTH_WRITING,
      builtIn,
      maxFileBytes,
      log,
    });
  });
  const opened = (content: Content): Opened => ({
    workspace: served(content.catalogue),
    async renewed(changed, files) {
      if (changed.some((path) => decisive.has(path))) return undefined;
      const next = await content.renewed(changed, files);
      return next === undefined ? undefined : opened(next);
    },
  });
  return opened(await openContent(sources, allReaders, preferences, kept));

  function served(catalogue: Catalogue): Workspace {
    const deliveryOf = (all: Catalogue): Delivery =>
      createDelivery({
        catalogue: all,
        projectRoot: project.root,
        async projectBmad() {
          const { root } = project;
          const folder = root === undefined ? undefined : await bmadPlace(root, '_bmad', diskSeenBy(places));
          return folder === undefined
            ? undefined
            : folderTree(folder, maxFileBytes, { within: folder, seen: places });
        },
        seen: places,
        today: () => localDay(new Date()),
        // Most users have none, and what reads it is not loaded for nothing. Callers of a shared server are other people.
        async withUser(kit) {
          if (outside.forOthers === true) return kit;
          const file = join(privateFolders.at(-1) ?? '', PERSON_FILE);
          return places.look(file) ? (await import('../hosts/person.ts')).withPerson(kit, file) : kit;
        },
      });
    /** A module that somebody has installed is theirs alone. */
    const beside = once(async () => {
      const installed = new Set(catalogue.winners.map(({ moduleName }) => moduleName));
      return chosenModules(config.modules, await modules()).beside.filter(({ code }) => !installed.has(code));
    });
    const everything = once(async (): Promise<Workspace> => {
      const { withModules } = await import('./built-in-modules.ts');
      const more = await beside();
      if (more.length === 0) return workspaceOfAll;
      const whole = await withModules(catalogue, more, await modules(), place);
      return workspaceOf(whole, { catalogue: whole, delivery: deliveryOf(whole) });
    });
    const views = new Map<Catalogue, Workspace>();
    /** A view is of some of the origins of a world; what is delivered and known is the world's. */
    const workspaceOf = (view: Catalogue, world: ServedContent): Workspace => ({
      project,
      warnings,
      steps: git.steps,
      absent: git.absent,
      catalogue: view,
      delivery: world.delivery,
      beside,
      everything,
      from(some) {
        const chosen = view.from(some);
        const known = views.get(chosen) ?? workspaceOf(chosen, world);
        views.set(chosen, known);
        return known;
      },
      async warm(signal) {
        const readingsKept = await kept();
        await readingsKept.written();
        return {
          readings: readingsKept.reports(),
          index: await (await (await everything()).search()).index(signal),
        };
      },
      search: once(async () => {
        const [{ createSearch, TERMS_FILE, withTerms, WORTH_KEEPING }, { buildMark, keptFiles }] =
          await Promise.all([
            import('../services/search/search.ts'),
            import('../catalogue/kept-readings.ts'),
          ]);
        return createSearch({
          cache: {
            files: keptFiles(cache, 'search'),
            writes: !config.readOnly,
            fromRecords: WORTH_KEEPING,
            build: await buildMark(builtIn),
            placesOf: (agents) => world.delivery.profilePlaces(agents),
            log,
          },
          catalogue: view,
          describe: (agent) => agentText(agent, world.delivery),
          embedder,
          terms: async () =>
            withTerms(await readInside(builtIn, TERMS_FILE, maxFileBytes).catch(orElse(undefined))),
          hasBeside: world.catalogue !== catalogue,
          // What manifests say of everything has no say in what a sentence means; what people start here has.
          async ranking() {
            const ranking = await rankings.of(project, world.catalogue);
            return (record) => (ranking.standsOut(record) ? ranking.rank(record) : 0);
          },
        });
      }),
      knowledge: once(async () => {
        const { createKnowledge } = await import('../services/knowledge/knowledge.ts');
        return createKnowledge(world.catalogue);
      }),
      async startedByCommands(folders) {
        const root = project.root === undefined ? undefined : await realFolder(project.root);
        if (root === undefined) return new Set();
        const { startedByCommands } = await import('../catalogue/host-commands.ts');
        return startedByCommands(folderTree(root, maxFileBytes), folders, world.catalogue.winners);
      },
      ranking: () => rankings.of(project, world.catalogue),
    });
    const workspaceOfAll = workspaceOf(catalogue, { catalogue, delivery: deliveryOf(catalogue) });
    return workspaceOfAll;
  }
}

/** What the configuration makes of the order of origins; what it cannot use is told. */
function chosenOrigins(
  found: readonly Source[],
  config: Settings['config'],
  from: Settings['from'],
  warnings: string[],
): { sources: Source[]; preferences: Preference[] } {
  const ordered = inOrder(found, config.originOrder);
  const origins = ordered.sources.map(({ origin }) => origin);
  const preferred = preferencesIn(config.prefer, origins);
  warnings.push(
    ...ordered.warnings.map((text) => `origin_order (${from.originOrder}): ${text}.`),
    ...preferred.warnings.map((text) => t`prefer (${from.prefer}): ${text}.`),
  );
  return { sources: ordered.sources, preferences: preferred.preferences };
}

/** What an agent says of itself; one whose file cannot be read is found by what is known of it. */
export async function agentText(agent: BmadRecord, delivery: Delivery): Promise<AgentText> {
  const { role, menu } = await delivery.profile(agent).catch(ours(() => ({ role: undefined, menu: [] })));
  return { role, menu: menu.map((item) => ({ text: item.text, starts: delivery.startedBy(item, agent) })) };
}

/** Nothing but one folder, as it would be served if it were the only source. */
export async function readFolder(folder: string): ReturnType<Context['readFolder']> {
  const [{ discoverSources }, { buildCatalogue }] = await Promise.all([
    import('../sources/discover.ts'),
    import('../catalogue/build.ts'),
  ]);
  const { sources } = await discoverSources({
    mode: 'strict',
    project: undefined,
    paths: [],
    root: undefined,
    git: [{ label: 'Git', name: basename(folder), folder, source: '', commit: '' }],
    home: '',
    maxFileBytes: REVIEWED_FILE_BYTES,
  });
  return {
    catalogue: await buildCatalogue(sources, allReaders),
    tree: folderTree((await realFolder(folder)) ?? folder, REVIEWED_FILE_BYTES),
  };
}

/** What is built in was read when it was built: without other content, no reader is needed. */
async function allReaders(): Promise<readonly Reader[]> {
  return (await import('../readers/index.ts')).readers;
}

/** A review leaves nothing out, however large. */
const REVIEWED_FILE_BYTES = 512 * 1024 * 1024;
