import { join } from 'node:path';
import { once } from '../base/async.ts';
import type { Secrets } from '../base/secrets/rules.ts';
import type { GivenValue } from '../config/load.ts';
import type { ConfiguredSource } from '../services/git-sources/configured.ts';
import type { GitSourcesParts } from '../services/git-sources/git-sources.ts';
import type { Served } from '../services/git-sources/view.ts';
import type { UpkeepSetup } from '../services/git-sources/upkeep.ts';

export interface ServedSourcesSetup
  extends Omit<UpkeepSetup, 'watched' | 'signal'>, Pick<GitSourcesParts, 'user' | 'project' | 'approval'> {
  given: readonly GivenValue[];
  /** Whether git sources take part; discovery may leave them out. */
  used(): boolean;
  env: Readonly<Record<string, string | undefined>>;
  decisions(): Promise<GitSourcesParts['decisions']>;
  /** Where what the user has agreed to is kept, if it cannot be beside the configuration. */
  state: string;
  cache: string;
  timeoutMs: number;
  secrets: Secrets;
}

/** The git sources of this process: what of them is served now, and the work on them in the background. */
export type ServedSources = Awaited<ReturnType<typeof createServedSources>>;

/** Follows the configuration: commands add and remove sources while a server runs. */
export async function createServedSources(setup: ServedSourcesSetup) {
  let known = keyOf(setup.given);
  let team = await openTeam(setup, setup.given);
  let turn = 0;
  let heard: (() => void) | undefined;
  return {
    warnings: () => team.warnings,
    sources: () => team.sources(),
    served: () => team.served(),
    version: async () => `${turn} ${await team.version()}`,
    /** Goes on with the sources that are named now. */
    async follow(given: readonly GivenValue[]): Promise<void> {
      const key = keyOf(given);
      if (key === known) return;
      const next = await openTeam(setup, given);
      team.close();
      [known, team, turn] = [key, next, turn + 1];
      if (heard !== undefined) team.begin(heard);
    },
    begin(arrived: () => void): void {
      heard = arrived;
      team.begin(arrived);
    },
    retry: () => team.retry(),
    close: (): void => team.close(),
  };
}

const keyOf = (given: readonly GivenValue[]): string =>
  JSON.stringify(given.map(({ value, layer }) => [layer, value]));

/** The sources of one configuration. Asked for at every start, so it loads nothing unless there is one. */
async function openTeam(setup: ServedSourcesSetup, given: readonly GivenValue[]) {
  const { sources: configured, warnings } = await configuredIn(given);
  for (const { address } of configured) {
    const { username, password } = address.credentials ?? { username: '', password: '' };
    // A name alone is a token; with a password, it is only a name.
    setup.secrets.add(password === '' ? username : password);
  }
  const { env, timeoutMs, project, approval, patient } = setup;
  const folder = join(setup.cache, 'git');
  const besides = project?.inside === undefined ? [] : [project.inside];
  const closing = new AbortController();
  const user = once(async () => {
    const { lockInReach } = await import('../services/git-sources/git-sources.ts');
    return { ...setup.user, lock: await lockInReach(setup.user.lock, setup.state) };
  });
  const sources = once(async () => {
    const [{ GitSources }, { GitCache }] = await Promise.all([
      import('../services/git-sources/git-sources.ts'),
      import('../sources/git/cache.ts'),
    ]);
    const cache = new GitCache({ folder, env, timeoutMs, besides, now: Date.now });
    const guards = join(folder, 'locks');
    return new GitSources({
      sources: configured,
      warnings,
      cache,
      user: await user(),
      project,
      guards,
      approval,
      decisions: await setup.decisions(),
    });
  });
  const upkeep = once(async () => {
    const { Upkeep } = await import('../services/git-sources/upkeep.ts');
    const watched = [(await user()).lock, project?.lock ?? [], join(folder, 'sightings')].flat();
    return new Upkeep(await sources(), { ...setup, watched, signal: closing.signal });
  });
  const none = (): boolean => configured.length === 0 || !setup.used();
  return {
    warnings: setup.used() ? warnings : [],
    sources,
    served: async (): Promise<Served> =>
      none() ? { mounts: [], warnings: [], steps: [], absent: [] } : (await upkeep()).served(),
    version: async () => (none() ? '' : (await upkeep()).version()),
    begin(arrived: () => void): void {
      if (none() || patient) return;
      setImmediate(() => {
        upkeep().then(
          (open) => open.begin(arrived),
          (error: unknown) => setup.log.error('git sources', { error: String(error) }),
        );
      });
    },
    async retry(): Promise<void> {
      if (!none() && !patient) await (await upkeep()).retry();
    },
    close: (): void => closing.abort(),
  };
}

async function configuredIn(
  given: readonly GivenValue[],
): Promise<{ sources: ConfiguredSource[]; warnings: string[] }> {
  if (given.length === 0) return { sources: [], warnings: [] };
  const { configuredSources } = await import('../services/git-sources/configured.ts');
  return configuredSources(
    given.flatMap(({ value, layer, from }) => (layer === 'preset' ? [] : [{ value, layer, from }])),
  );
}
