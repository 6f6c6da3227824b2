import { join } from 'node:path';
import { once } from '../base/async.ts';
import type { Log } from '../base/log.ts';
import type { Secrets } from '../base/secrets/secrets.ts';
import type { GivenValue } from '../config/load.ts';
import type { ConfiguredSource } from '../services/git-sources/configured.ts';
import type { GitSources } from '../services/git-sources/git-sources.ts';
import type { LevelFiles } from '../services/git-sources/levels.ts';
import type { Served } from '../services/git-sources/served.ts';

export interface ServedSourcesSetup {
  given: readonly GivenValue[];
  env: Readonly<Record<string, string | undefined>>;
  cache: string;
  user: LevelFiles;
  project: LevelFiles | undefined;
  timeoutMs: number;
  approval: 'ask' | 'auto';
  refreshMinutes: number;
  /** Whether to wait for what is missing before the first answer, as a command does; a server never waits. */
  patient: boolean;
  /** For a person who waits. */
  tell(message: string): void;
  secrets: Secrets;
  log: Log;
}

/** The git sources of this process: what of them is served now, and the work on them in the background. */
export interface ServedSources {
  /** Sources that could not be understood. */
  warnings: readonly string[];
  sources(): Promise<GitSources>;
  /** The content that is served, and notes about the rest. */
  served(): Promise<Served>;
  /** Changes when different content has to be served; another process may have approved it. */
  version(): Promise<string>;
  /** Fetches what is missing and, if asked for, looks for changes; tells when there is something new to serve. */
  begin(arrived: () => void): void;
  /** Tries again to fetch what is missing, and waits a little for it. */
  retry(): Promise<void>;
  close(): void;
}

/** Asked for at every start, so it loads nothing unless there is a git source. */
export async function createServedSources(setup: ServedSourcesSetup): Promise<ServedSources> {
  const { sources: configured, warnings } = await configuredIn(setup.given);
  for (const { address } of configured) {
    const { username, password } = address.credentials ?? { username: '', password: '' };
    // A name alone is a token; with a password, it is only a name.
    setup.secrets.add(password === '' ? username : password);
  }
  const { env, timeoutMs, user, project, approval, patient } = setup;
  const folder = join(setup.cache, 'git');
  const consents = join(folder, 'consents');
  const closing = new AbortController();
  const sources = once(async () => {
    const [{ GitSources }, { GitCache }] = await Promise.all([
      import('../services/git-sources/git-sources.ts'),
      import('../sources/git/cache.ts'),
    ]);
    const cache = new GitCache({ folder, env, timeoutMs, now: Date.now });
    const guards = join(folder, 'locks');
    return new GitSources({ sources: configured, cache, user, project, guards, consents, approval });
  });
  const upkeep = once(async () => {
    const { Upkeep } = await import('../services/git-sources/upkeep.ts');
    const watched = [user.lock, project?.lock ?? [], join(folder, 'sightings'), consents].flat();
    return new Upkeep(await sources(), { ...setup, watched, signal: closing.signal });
  });
  const none = configured.length === 0;
  return {
    warnings,
    sources,
    served: async () =>
      none ? { mounts: [], warnings: [], steps: [], absent: [] } : (await upkeep()).served(),
    version: async () => (none ? '' : (await upkeep()).version()),
    begin(arrived) {
      if (none || patient) return;
      setImmediate(() => {
        upkeep().then(
          (open) => open.begin(arrived),
          (error: unknown) => setup.log.error('git sources', { error: String(error) }),
        );
      });
    },
    async retry() {
      if (!none && !patient) await (await upkeep()).retry();
    },
    close: () => closing.abort(),
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
