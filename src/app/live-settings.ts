import { t } from '../base/text/message.ts';
import { Keeper } from '../base/files/keeper.ts';
import type { Config, SettingName } from '../config/schema.ts';
import type { ServedSources } from './git-sources.ts';
import type { Settings } from './settings.ts';

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
