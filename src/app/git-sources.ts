import { join } from 'node:path';
import { setTimeout as setTimeoutPromise } from 'node:timers/promises';
import { once } from '../base/async.ts';
import { modifiedAt } from '../base/files/file-state.ts';
import type { Log } from '../base/log.ts';
import type { Secrets } from '../base/secrets/secrets.ts';
import { ago } from '../base/text/text.ts';
import type { Gathered } from '../config/load.ts';
import type { ConfiguredSource } from '../services/git-sources/configured.ts';
import type { LevelFiles } from '../services/git-sources/levels.ts';
import type { TeamSources } from '../services/git-sources/git-sources.ts';
import type { SourceView } from '../services/git-sources/view.ts';
import type { GitMount } from '../sources/discover.ts';

export interface TeamSetup {
  given: readonly Gathered[];
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
export interface Team {
  /** Sources that could not be understood. */
  warnings: readonly string[];
  sources(): Promise<TeamSources>;
  /** What is served, and what there is to say about the rest. */
  served(): Promise<Served>;
  /** Changes when other content is to be served; another process may have approved it. */
  version(): Promise<string>;
  /** Fetches what is missing and, if asked for, looks for changes; tells when there is something new to serve. */
  begin(arrived: () => void): void;
  /** Tries again to fetch what is missing, and waits a little for it. */
  retry(): Promise<void>;
  close(): void;
}

/** After how long a server tries again what it could not fetch: a laptop may be online before its network is. */
const RETRIES_MS = [15_000, 60_000, 300_000, 900_000];
const RETRY_WAIT_MS = 5_000;

/** What a project lists waits for its user. */
const isMissing = ({ served, layer }: SourceView): boolean => served === undefined && layer !== 'project';

interface Served {
  mounts: GitMount[];
  warnings: string[];
  /** The sources that are not here. */
  absent: string[];
}

/** Asked for at every start, so it loads nothing unless there is a git source. */
export async function createTeam(setup: TeamSetup): Promise<Team> {
  const { sources: configured, warnings } = await configuredIn(setup.given);
  for (const { address } of configured) {
    const { username, password } = address.credentials ?? { username: '', password: '' };
    // A name alone is a token; with a password, it is only a name.
    setup.secrets.add(password === '' ? username : password);
  }
  const closing = new AbortController();
  const busy = new Set<string>();
  /** Why a source could not be brought, also where the disk does not even take a note of it. */
  const troubles = new Map<string, string>();
  const sources = once(async () => {
    const [{ TeamSources }, { GitCache }] = await Promise.all([
      import('../services/git-sources/git-sources.ts'),
      import('../sources/git/cache.ts'),
    ]);
    const { env, timeoutMs, user, project, approval } = setup;
    const folder = join(setup.cache, 'git');
    const cache = new GitCache({ folder, env, timeoutMs, now: Date.now });
    return new TeamSources({
      sources: configured,
      cache,
      user,
      project,
      guards: join(folder, 'locks'),
      consents: join(folder, 'consents'),
      approval,
    });
  });

  /** Counts what changes in what there is to say about sources that are not here. */
  let news = 0;
  let settling: Promise<boolean> | undefined;

  /** Fetches what is missing; whoever asks while that goes on shares it. */
  function settle(): Promise<boolean> {
    settling ??= fetchMissing().finally(() => {
      settling = undefined;
      // Only where something was missing is there something new to say; each change reads the content anew.
      if (busy.size > 0) news += 1;
      busy.clear();
    });
    return settling;
  }

  async function fetchMissing(): Promise<boolean> {
    const team = await sources();
    const missing = (await team.views()).filter(isMissing);
    if (missing.length === 0) return false;
    for (const { address } of missing) busy.add(address.source);
    news += 1;
    if (setup.patient) setup.tell(`Fetching ${missing.map(({ address }) => address.source).join(', ')}`);
    return team.settle({ signal: closing.signal }, ({ address: { source } }, error) => {
      troubles.set(source, error.line);
      setup.log.warn(`${source} cannot be fetched: ${error.line}`);
    });
  }

  /** A command fetches once; a second attempt within seconds would fail the same way. */
  const settledOnce = once(settle);

  let known: { stamps: string; version: string } | undefined;

  return {
    warnings,
    sources,
    async served() {
      if (configured.length === 0) return { mounts: [], warnings: [], absent: [] };
      if (setup.patient) await settledOnce();
      const views = await (await sources()).views();
      return {
        mounts: views.flatMap((view) => (view.served === undefined ? [] : [mountOf(view, view.served)])),
        warnings: views.flatMap((view) => {
          const { source } = view.address;
          const trouble = view.trouble ?? (view.served === undefined ? troubles.get(source) : undefined);
          return words(trouble === undefined ? view : { ...view, trouble }, busy.has(source));
        }),
        absent: views.flatMap(({ served, address }) => (served === undefined ? [address.source] : [])),
      };
    },
    async version() {
      if (configured.length === 0) return '';
      const stamps = await stampsOf([
        setup.user.lock,
        setup.project?.lock,
        join(setup.cache, 'git', 'sightings'),
        join(setup.cache, 'git', 'consents'),
      ]);
      if (known?.stamps === `${stamps} ${news}`) return known.version;
      const views = await (await sources()).views();
      const version = `${news} ${views.map(({ served }) => served?.commit ?? '-').join(' ')}`;
      known = { stamps: `${stamps} ${news}`, version };
      return version;
    },
    begin(arrived) {
      if (configured.length === 0 || setup.patient) return;
      let attempt = 0;
      const work = async (): Promise<void> => {
        if (await settle()) arrived();
        if (setup.refreshMinutes > 0 && (await lookForChanges(await sources(), setup, closing.signal)))
          arrived();
        if ((await (await sources()).views()).some(isMissing)) {
          later(RETRIES_MS[Math.min(attempt, RETRIES_MS.length - 1)] ?? 0);
          attempt += 1;
        }
      };
      let running = false;
      const run = (): void => {
        if (running) return;
        running = true;
        void work()
          .catch((error: unknown) => {
            if (!closing.signal.aborted)
              setup.log.error('git sources', {
                error: error instanceof Error ? error.message : String(error),
              });
          })
          .finally(() => (running = false));
      };
      const later = (ms: number): void => {
        const timer = setTimeout(run, ms).unref();
        closing.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
      };
      setImmediate(run);
      if (setup.refreshMinutes > 0) {
        const timer = setInterval(run, setup.refreshMinutes * 60_000).unref();
        closing.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
      }
    },
    async retry() {
      if (configured.length === 0 || setup.patient) return;
      const attempt = settle().catch(() => false);
      await Promise.race([attempt, setTimeoutPromise(RETRY_WAIT_MS, undefined, { ref: false })]);
    },
    close: () => closing.abort(),
  };
}

async function configuredIn(
  given: readonly Gathered[],
): Promise<{ sources: ConfiguredSource[]; warnings: string[] }> {
  if (given.length === 0) return { sources: [], warnings: [] };
  const { configuredSources } = await import('../services/git-sources/configured.ts');
  return configuredSources(
    given.flatMap(({ value, layer, from }) => (layer === 'preset' ? [] : [{ value, layer, from }])),
  );
}

/**
 * Asks the remotes that have not been asked for the time set, also those that could not be had before. A project's
 * source is asked once the user has fetched it.
 */
async function lookForChanges(team: TeamSources, setup: TeamSetup, signal: AbortSignal): Promise<boolean> {
  const oldest = Date.now() - setup.refreshMinutes * 60_000;
  const due = (await team.views()).filter(
    ({ served, layer, sighting }) =>
      (served !== undefined || layer !== 'project') &&
      Math.max(sighting?.checkedAt ?? 0, sighting?.troubleAt ?? 0) <= oldest,
  );
  const results = await team.update(due, { background: true }, { signal });
  for (const { outcome, error } of results) if (outcome === 'failed') setup.log.warn(error?.line ?? '');
  return results.some(({ outcome }) => outcome !== 'unchanged' && outcome !== 'failed');
}

async function stampsOf(files: readonly (string | undefined)[]): Promise<string> {
  const times = await Promise.all(
    files.map(async (file) => (file === undefined ? 0 : await modifiedAt(file))),
  );
  return times.join(' ');
}

function mountOf({ address }: SourceView, { folder, commit }: { folder: string; commit: string }): GitMount {
  const { org, repo, ref, subpath, source } = address;
  const owner = org.split('/').at(-1) ?? '';
  const place = `${owner === '' ? '' : `${owner}/`}${repo}${ref === '' ? '' : `#${ref}`}${subpath === undefined ? '' : `:/${subpath}`}`;
  return { label: `${place}@${commit.slice(0, 8)}`, name: moduleName(address), folder, source, commit };
}

/** The folder's name says nothing where it is one of those that every repository has. */
function moduleName({ name, repo }: SourceView['address']): string {
  return /^(?:skills|src|agents|bmad|content|\..*)$/i.test(name) ? repo : name;
}

/** What a person should know about a source that is not simply served. */
function words(view: SourceView, fetching: boolean): string[] {
  const { address, served, pending, trouble, layer, sighting, relation } = view;
  const found: string[] = [];
  const again = `"bmad sources update${layer === 'flag' || layer === 'environment' ? ` --git ${address.source}` : ''}"`;
  if (served === undefined)
    found.push(
      fetching
        ? `${address.source} is being fetched; it is served as soon as it is here.`
        : layer === 'project' && trouble === undefined
          ? `${address.source} is listed by the project and not on this machine yet. Fetch it with ${again}.`
          : `${address.source} is not served: ${trouble ?? 'it has not been fetched yet.'} Try again with ${again}.`,
    );
  else if (trouble !== undefined)
    found.push(
      `${address.source} is served as it was ${ago(sighting?.checkedAt ?? served.fetchedAt, Date.now())}: ${trouble}`,
    );
  if (pending !== undefined && served !== undefined)
    found.push(
      `${address.source} has changes that wait for your approval${relation === undefined || relation === 'continued' ? '' : ` (${relation})`}: "bmad sources diff", then "bmad sources approve".`,
    );
  return found;
}
