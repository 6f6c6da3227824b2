import { t } from '../base/text/message.ts';
import { basename, resolve } from 'node:path';
import { once } from '../base/async.ts';
import { realFolder } from '../base/files/files.ts';
import { Keeper } from '../base/files/keeper.ts';
import { stepLines } from '../base/step.ts';
import type { Content } from '../catalogue/build.ts';
import type { KeptReadings } from '../catalogue/kept-readings.ts';
import { type Preference, preferencesIn } from '../catalogue/catalogue.ts';
import type { Context } from '../operations/context.ts';
import { builtInModules } from '../sources/built-in.ts';
import { inOrder } from '../sources/discover.ts';
import { folderTree, type Source } from '../sources/tree.ts';
import type { Reader } from '../readers/reader.ts';
import type { Project } from '../sources/project-root.ts';
import {
  chosenModules,
  type FoundSources,
  METHOD,
  servedWorkspaces,
  type WorkspaceParts,
} from './served-workspace.ts';
import type { Settings } from './settings.ts';
import type { Opened } from './workspaces.ts';
import type { Config, SettingName } from '../config/schema.ts';
import type { ServedSources } from './git-sources.ts';

/** Whoever opens a workspace puts what is in it in order: this is loaded with it, not with the start. */
export { createRanking, manifestPriorities } from '../services/ranking/ranking.ts';
export { openUsage } from '../services/ranking/usage.ts';
export { createWorkspaces } from './workspaces.ts';

/** Finds and reads everything for one project. What it needs is loaded here, after the first answer to the client. */
export async function openWorkspace(
  project: Project,
  settings: Settings,
  parts: WorkspaceParts,
  keeper: Keeper,
): Promise<Opened> {
  const [discovery, { openContent }, { createDelivery }] = await Promise.all([
    import('../sources/discover.ts'),
    import('../catalogue/build.ts'),
    import('../services/delivery/delivery.ts'),
  ]);
  const found = await foundSources(project, settings, parts, keeper, discovery.discoverSources);
  const readings = once(() => keptReadings(settings, parts, keeper));
  const { bmadPlace } = discovery;
  const served = servedWorkspaces({
    project,
    settings,
    parts,
    keeper,
    found,
    readings,
    createDelivery,
    bmadPlace,
  });
  const opened = (content: Content): Opened => ({
    workspace: served(content.catalogue),
    async renewed(changed, files) {
      if (changed.some((path) => found.decisive.has(path))) return undefined;
      const next = await content.renewed(changed, files);
      return next === undefined ? undefined : opened(next);
    },
  });
  return opened(await openContent(found.sources, allReaders, found.preferences, readings));
}

/** Where content comes from, in the order in which it wins. */
async function foundSources(
  project: Project,
  { outside, config, from, log }: Settings,
  { gitSources }: WorkspaceParts,
  keeper: Keeper,
  discoverSources: (typeof import('../sources/discover.ts'))['discoverSources'],
): Promise<FoundSources> {
  const { maxFileBytes, discovery } = config;
  const place = { contentRoot: outside.contentRoot, maxFileBytes };
  const git = await gitSources.served();
  const discovered = await keeper.collecting(() =>
    discoverSources({
      git: git.mounts,
      mode: discovery,
      project: project.root,
      paths: config.paths.map((path) => resolve(outside.cwd, path)),
      root: config.root === undefined ? undefined : resolve(outside.cwd, config.root),
      home: outside.home,
      maxFileBytes,
      seen: keeper,
    }),
  );
  const { sources: found, warnings } = discovered.result;
  warnings.push(...git.warnings);
  if (discovery === 'auto') {
    const { packageSource } = await import('../sources/built-in.ts');
    found.push(await packageSource(outside.contentRoot, maxFileBytes));
  }
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
  const chosen = chosenOrigins(found, config, from, warnings);
  for (const warning of warnings) log.warn(warning);
  if (git.steps.length > 0) {
    const { commandLine } = await import('../operations/on-demand.ts');
    for (const line of stepLines(git.steps, commandLine)) log.warn(line);
  }
  return { ...chosen, warnings, git, modules, place, decisive: new Set(discovered.used) };
}

/** What was read before, in this process or on disk. */
async function keptReadings(
  { config, log, cache, builtIn }: Settings,
  { readings }: WorkspaceParts,
  keeper: Keeper,
): Promise<KeptReadings> {
  const { diskCache, openKeptReadings, WORTH_WRITING } = await import('../catalogue/kept-readings.ts');
  return openKeptReadings({
    places: keeper,
    memory: readings,
    files: diskCache(cache, 'catalogue'),
    writes: !config.readOnly,
    fromPlaces: WORTH_WRITING,
    builtIn,
    maxFileBytes: config.maxFileBytes,
    log,
  });
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
    ...ordered.warnings.map((text) => t`origin_order (${from.originOrder}): ${text}.`),
    ...preferred.warnings.map((text) => t`prefer (${from.prefer}): ${text}.`),
  );
  return { sources: ordered.sources, preferences: preferred.preferences };
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

/**
 * What says which content there is and how it is shown: it can change from one call to the next. All else, such as what may
 * be called by whom and where things are kept, holds from the start to the end of a process.
 */
const LIVE: readonly SettingName[] = [
  'paths',
  'root',
  'discovery',
  'modules',
  'originOrder',
  'prefer',
  'boost',
  'rankHalfLife',
  'rankRecency',
  'rankFrequency',
  'rankManifest',
  'rankBoost',
  'pageSize',
  'answerBytes',
  'maxFileBytes',
];

/** Takes over what has changed in the configuration files; the answer is another one whenever something has. */
export function liveSettings(
  { config, from, gathered, warnings, configFiles, load, log }: Settings,
  gitSources: ServedSources,
): () => Promise<number> {
  let version = 0;
  let places: Keeper | undefined;
  let told: readonly string[] = [...warnings];
  let ofSources = gitSources.warnings();

  async function renew(): Promise<void> {
    places = new Keeper();
    for (const path of configFiles) places.look(path);
    const loaded = await load();
    gathered.git = loaded.gathered.git ?? [];
    await gitSources.follow(gathered.git);
    const changed = LIVE.filter(
      (name) => JSON.stringify(config[name]) !== JSON.stringify(loaded.config[name]),
    );
    for (const name of changed) from[name] = loaded.from[name];
    Object.assign(
      config,
      Object.fromEntries(changed.map((name) => [name, loaded.config[name]])) as Partial<Config>,
    );
    const now = [...loaded.warnings, ...gitSources.warnings()];
    for (const warning of now) if (!told.includes(warning)) log.warn(warning);
    const isStale = (warning: string): boolean => isOfFile(warning) && told.includes(warning);
    const others = warnings.filter((warning) => !isStale(warning) && !ofSources.includes(warning));
    warnings.splice(0, warnings.length, ...new Set([...others, ...now]));
    told = now;
    ofSources = gitSources.warnings();
    if (changed.length > 0) version += 1;
  }

  const isOfFile = (warning: string): boolean => configFiles.some((path) => warning.includes(path));
  let renewing: Promise<void> = Promise.resolve();

  async function renewIfEdited(): Promise<void> {
    // An edit since the start counts as well.
    if (places !== undefined && (await places.changed()).length === 0) return;
    await renew().catch((error: unknown) =>
      log.warn(t`The configuration files are not read again.`, { error: String(error) }),
    );
  }

  return async () => {
    renewing = renewing.then(renewIfEdited);
    await renewing;
    return version;
  };
}
