import { t } from '../../base/text/message.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { once } from '../../base/async.ts';
import { modifiedAt } from '../../base/files/file-state.ts';
import type { Log } from '../../base/log.ts';
import type { GitSources } from './git-sources.ts';
import { type Served, servedOf, type SourceView } from './view.ts';

export interface UpkeepSetup {
  /** Files that other processes change when they approve, fetch or look at something. */
  watched: readonly string[];
  refreshMinutes: number;
  /** Whether to wait for what is missing before the first answer, as a command does; a server never waits. */
  patient: boolean;
  /** For a person who waits. */
  tell(message: string): void;
  log: Log;
  /** Ends the work in the background. */
  signal: AbortSignal;
}

/** After how long a server tries again what it could not fetch: a laptop may be online before its network is. */
const RETRIES_MS = [15_000, 60_000, 300_000, 900_000];
const RETRY_WAIT_MS = 5_000;

/** What a project lists waits for its user. */
const isMissing = ({ served, layer }: SourceView): boolean => served === undefined && layer !== 'project';

/** Keeps git sources up to date: fetches what is missing, tries again, and looks for changes. */
export class Upkeep {
  readonly #sources: GitSources;
  readonly #setup: UpkeepSetup;
  readonly #fetching = new Set<string>();
  /** Why a source could not be fetched, even if the disk refuses to record it. */
  readonly #troubles = new Map<string, string>();
  /** Counts the changes in the notes about sources that have not been fetched. */
  #news = 0;
  #settling: Promise<boolean> | undefined;
  #known: { stamps: string; version: string } | undefined;
  #running = false;
  #attempts = 0;
  /** A command fetches once; a second attempt within seconds would fail the same way. */
  readonly #settledOnce = once(() => this.#settle());

  constructor(sources: GitSources, setup: UpkeepSetup) {
    this.#sources = sources;
    this.#setup = setup;
  }

  async served(): Promise<Served> {
    if (this.#setup.patient) await this.#settledOnce();
    return servedOf(await this.#sources.views(), this.#fetching, this.#troubles);
  }

  /** Changes when different content has to be served; another process may have approved it. */
  async version(): Promise<string> {
    const times = await Promise.all(this.#setup.watched.map(modifiedAt));
    const stamps = [...times, this.#news, await this.#sources.decidedAt()].join(' ');
    if (this.#known?.stamps === stamps) return this.#known.version;
    const news = this.#news;
    const commits = (await this.#sources.views()).map(({ served }) => served?.commit ?? '-');
    this.#known = { stamps, version: [news, ...commits].join(' ') };
    return this.#known.version;
  }

  /** Tries again to fetch what is missing, and waits a little for it. */
  async retry(): Promise<void> {
    const attempt = this.#settle().catch(() => false);
    await Promise.race([attempt, pause(RETRY_WAIT_MS, undefined, { ref: false })]);
  }

  /** Works in the background from now on; `arrived` hears when there is something new to serve. */
  begin(arrived: () => void): void {
    const { refreshMinutes, signal } = this.#setup;
    this.#run(arrived);
    if (refreshMinutes === 0) return;
    const timer = setInterval(() => this.#run(arrived), refreshMinutes * 60_000).unref();
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  #run(arrived: () => void): void {
    const { signal, log } = this.#setup;
    if (this.#running || signal.aborted) return;
    this.#running = true;
    void this.#work(arrived)
      .catch((error: unknown) => {
        if (!signal.aborted)
          log.error('git sources', { error: error instanceof Error ? error.message : String(error) });
      })
      .finally(() => (this.#running = false));
  }

  async #work(arrived: () => void): Promise<void> {
    const { refreshMinutes, signal } = this.#setup;
    if (await this.#settle()) arrived();
    if (refreshMinutes > 0 && (await this.#lookForChanges())) arrived();
    if (!(await this.#sources.views()).some(isMissing)) return;
    const wait = RETRIES_MS[Math.min(this.#attempts, RETRIES_MS.length - 1)];
    this.#attempts += 1;
    const timer = setTimeout(() => this.#run(arrived), wait).unref();
    signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  }

  /** Fetches what is missing; callers who ask meanwhile share the work. */
  #settle(): Promise<boolean> {
    this.#settling ??= this.#fetchMissing().finally(() => {
      this.#settling = undefined;
      // Only if something was missing is there anything new to report; each change reloads the content.
      if (this.#fetching.size > 0) this.#news += 1;
      this.#fetching.clear();
    });
    return this.#settling;
  }

  async #fetchMissing(): Promise<boolean> {
    const { patient, tell, log, signal } = this.#setup;
    const missing = (await this.#sources.views()).filter(isMissing).map(({ address }) => address.source);
    if (missing.length === 0) return false;
    for (const source of missing) this.#fetching.add(source);
    this.#news += 1;
    if (patient) tell(t`Fetching ${missing.join(', ')}`);
    return this.#sources.settle({ signal }, ({ address: { source } }, error) => {
      this.#troubles.set(source, error.line);
      log.warn(`${source} cannot be fetched: ${error.line}`);
    });
  }

  /**
   * Asks the remotes that have not been asked for the time set, also those that could not be had before. A project's
   * source is asked once the user has fetched it.
   */
  async #lookForChanges(): Promise<boolean> {
    const { refreshMinutes, log, signal } = this.#setup;
    const oldest = Date.now() - refreshMinutes * 60_000;
    const due = (await this.#sources.views()).filter(
      ({ served, layer, sighting }) =>
        (served !== undefined || layer !== 'project') &&
        Math.max(sighting?.checkedAt ?? 0, sighting?.troubleAt ?? 0) <= oldest,
    );
    const results = await this.#sources.update(due, { background: true }, { signal });
    for (const { outcome, error } of results) if (outcome === 'failed') log.warn(error?.line ?? '');
    return results.some(({ outcome }) => outcome !== 'unchanged' && outcome !== 'failed');
  }
}
