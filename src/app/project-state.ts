import type { Said } from '../base/text/message.ts';
import { join } from 'node:path';
import { realFolder } from '../base/files/files.ts';
import type { Told } from '../base/files/keeper.ts';
import { projectKey } from '../base/files/paths.ts';
import { isUnused, kitAtHome, partsWithUser, refuseLinks, type StateMove, type Kit } from '../kit/kit.ts';
import { projectLanguages } from '../kit/language.ts';
import type { ProjectState } from '../operations/context.ts';
import type { SharedAudit } from '../model/client.ts';
import type { Decisions } from '../model/memory.ts';
import type { TrustPolicy } from '../services/completion/trust.ts';
import type { DecisionBook, sharedDecisions } from '../services/decisions/decisions.ts';
import { TASKS } from '../services/tasks/fold.ts';
import type { Project } from '../sources/project-root.ts';
import { once } from '../base/async.ts';
import type { LogSetup, ProjectLogs } from '../kit/project-log.ts';
import type { KeptRuns } from '../kit/runs/kept-runs.ts';
import { RUNS } from '../kit/runs/run-fold.ts';
import { HANDOFFS } from '../kit/session/handoffs.ts';
import type { KeptReport } from '../services/progress/progress.ts';
import type { KeptMuseum } from '../services/facts/facts.ts';
import type { Memory } from '../services/memory/memory.ts';
import { createBounded } from '../base/values.ts';
import { rootOf, type Settings } from './settings.ts';

/** The memories of all projects. */
interface Memories {
  of(kit: Kit, mayWrite?: boolean): Promise<Memory>;
  prepare(kit: Kit, pause: () => Promise<void>): Promise<void>;
  move(kit: Kit): Promise<StateMove | undefined>;
}

/**
 * What a project knows about itself. Its files change under our feet, so what is kept from one call to the next is looked
 * at again; each part is loaded when a call first needs it.
 */
export function projectState(
  project: Project,
  settings: Settings,
  memories: Memories,
  told: Told,
): ProjectState {
  const { outside, config, from, state: userState, secrets } = settings;
  const root = rootOf(project);
  const own = once(async () => ({ ...(await kitAtHome(root, userState, config.projectState)), told }));
  const places = async (): Promise<LogSetup> => ({
    kit: await own(),
    state: userState,
    cache: settings.cache,
    env: outside.env,
    writes: !config.readOnly,
  });
  /** What the lines of the project say, but memories. */
  const view = once(async () => {
    const { linePlaces } = await import('../kit/project-log.ts');
    const setup = await places();
    const { all, each } = await linePlaces(setup);
    for (const { folder } of each) await refuseLinks(folder);
    return (await keptOf(settings, root).logs()).view(all, setup);
  });
  const runs = async () => {
    const { openRuns } = await import('../services/runs/runs.ts');
    const kept = keptOf(settings, root);
    return openRuns({ ...(await places()), logs: await kept.logs(), kept: await kept.runs(told) });
  };
  return {
    root,
    kit: own,
    runs,
    language: async () => (await projectLanguages(await own())).answers,
    async unused() {
      return isUnused(await own());
    },
    async filesToShow(paths, signal) {
      const [{ filesToShow }, { ownFilesOf }] = await Promise.all([
        import('../base/process/project-files.ts'),
        import('../kit/configuration.ts'),
      ]);
      const isOwn = await ownFilesOf(await own());
      return filesToShow(root, paths, isOwn, { env: outside.env, timeoutMs: LIST_MS, signal });
    },
    async place() {
      const { statePlace } = await import('../services/facts/move-state.ts');
      return statePlace(await own(), userState, config.projectState);
    },
    async shareLines(isShared) {
      const { shareLines } = await import('../services/facts/move-state.ts');
      return shareLines(await own(), isShared);
    },
    async completion() {
      const { openCompletion } = await import('../services/completion/completion.ts');
      return openCompletion({
        ...(await places()),
        root,
        logs: await keptOf(settings, root).logs(),
        addedEnv: config.contractEnv,
        platform: outside.platform,
        timeoutMs: config.contractTimeoutMs,
        trust: await trustPolicy(config, from.trust),
        decisions: await decisionsOf(settings, root, view),
        hide: secrets.redact,
        hideKnown: secrets.hide,
      });
    },
    async progress() {
      const { createProgress } = await import('../services/progress/progress.ts');
      return createProgress(root, outside.env, await keptOf(settings, root).progress());
    },
    async database(address) {
      const given = address === undefined ? await settings.team.get() : await settings.team.at(address);
      if (given === undefined) return undefined;
      const setup = await places();
      return {
        shown: given.at,
        counted: () => given.counted(setup),
        checked: () => given.checked(setup),
        migrate: (role) => given.migrate(role),
        close: () => (address === undefined ? Promise.resolve() : given.close()),
      };
    },
    again: once(async () => {
      const database = await settings.team.get();
      if (database === undefined) return undefined;
      const { openAgain } = await import('../services/calls/again.ts');
      return openAgain(await database.requests(await places()));
    }),
    async moveLines(to, moving) {
      const [{ filesSide, moveLines }, { linePlaces, ProjectLogs, writerOf }, { receiptsLog }] =
        await Promise.all([
          import('../services/shared-state/shared-state.ts'),
          import('../kit/project-log.ts'),
          import('../services/completion/completion.ts'),
        ]);
      const setup = await places();
      const logs = new ProjectLogs();
      const { all, each } = await linePlaces(setup);
      for (const { folder } of each) await refuseLinks(folder);
      const receipts = await receiptsLog({ ...setup, logs });
      const files = filesSide(setup.kit, { log: logs.at(all, setup), places: each }, receipts);
      const database = to === undefined ? await settings.team.get() : await settings.team.at(to);
      if (database === undefined) return undefined;
      try {
        const there = await database.side(setup, writerOf(setup));
        return await moveLines(
          ...(to === undefined ? ([there, files] as const) : ([files, there] as const)),
          moving,
        );
      } finally {
        if (to !== undefined) await database.close();
      }
    },
    async facts() {
      const { openFacts } = await import('../services/facts/facts.ts');
      const kept = await keptOf(settings, root).museum();
      return openFacts({ kit: await own(), hide: secrets.hide, view, kept });
    },
    async handovers() {
      const { openHandovers } = await import('../services/handover/handovers.ts');
      return openHandovers(await own(), await decisionsOf(settings, root, view), view, runs);
    },
    memory: async (mayWrite) => memories.of(await own(), mayWrite),
    async writtenBy(call) {
      const lines = await (await view()).log.last(ASKED_LINES);
      const known = new Set(lines.flatMap(({ line }) => line.events.map(({ of }) => of)));
      const written = lines.flatMap(({ line }) => (line.by.call === call ? line.events : []));
      // What was decided belongs to what it is about, and comes first: there may be nothing yet that it is about.
      return written.map(({ of }) => of.replace(/^decision\//, '')).filter((of) => known.has(of));
    },
    async prepareRecall(pause) {
      await memories.prepare(await own(), pause);
    },
    async moves() {
      const kit = await own();
      const parts = await partsWithUser(kit);
      if (parts.length === 0) return [];
      const found: (StateMove | undefined)[] = [];
      const { movePages, moveRuns, moveTasks } = await import('../services/facts/move-state.ts');
      if (parts.includes('pages')) found.push(await movePages(kit));
      if (parts.includes('runs')) found.push(await moveRuns(kit));
      if (parts.includes('tasks')) found.push(await moveTasks(kit));
      if (parts.includes('memories')) found.push(await memories.move(kit));
      return found.filter((move) => move !== undefined);
    },
    async whileMoving(work) {
      const { whileMoving } = await import('../services/facts/move-state.ts');
      return whileMoving(root, userState, work);
    },
    async tasks() {
      const { openTasks } = await import('../services/tasks/tasks.ts');
      const { logs } = keptOf(settings, root);
      return openTasks({ ...(await places()), logs: await logs() }, await decisionsOf(settings, root, view));
    },
    decisions: () => decisionsOf(settings, root, view),
  };
}

/** Among so many of the last lines is what a call has written that was cut. */
const ASKED_LINES = 2_000;
/** How long git may take to say which files it would track. */
const LIST_MS = 15_000;
/** Projects whose progress, runs and tasks are kept once they were read. */
const MOST_KEPT = 8;

interface Kept {
  logs(): Promise<ProjectLogs>;
  progress(): Promise<KeptReport>;
  /** With who may answer for their files. */
  runs(told: Told): Promise<KeptRuns>;
  museum(): Promise<KeptMuseum>;
}

const keptBySettings = new WeakMap<Settings, ReturnType<typeof createBounded<Kept>>>();

export function keptOf(settings: Settings, root: string): Kept {
  const all = keptBySettings.get(settings) ?? createBounded<Kept>(MOST_KEPT);
  keptBySettings.set(settings, all);
  let runs: Promise<KeptRuns> | undefined;
  const known = all.get(root) ?? {
    logs: once(async () => {
      const { ProjectLogs } = await import('../kit/project-log.ts');
      return new ProjectLogs(await settings.team.get(), [TASKS, RUNS, HANDOFFS]);
    }),
    progress: once(async () => new (await import('../services/progress/progress.ts')).KeptReport()),
    museum: once(async () => new (await import('../services/facts/facts.ts')).KeptMuseum()),
    runs: (told) => (runs ??= keptRuns(settings, root, told)),
  };
  all.set(root, known);
  return known;
}

async function keptRuns({ cache, config }: Settings, root: string, told: Told): Promise<KeptRuns> {
  const { KeptRuns } = await import('../services/runs/runs.ts');
  const path = join(cache, 'runs', `${projectKey(root)}.json`);
  return new KeptRuns(config.readOnly ? undefined : path, told);
}

const booksBySettings = new WeakMap<Settings, () => Promise<DecisionBook>>();

/** All that people have decided on this machine. */
export function decisionBook(settings: Settings): Promise<DecisionBook> {
  const open =
    booksBySettings.get(settings) ??
    once(async () => (await import('../services/decisions/decisions.ts')).openDecisions(settings.state));
  booksBySettings.set(settings, open);
  return open();
}

/** What of it is about a project. */
export async function decisionsOf(
  settings: Settings,
  root: string,
  view: Parameters<typeof sharedDecisions>[1],
): Promise<Decisions> {
  const own = (await decisionBook(settings)).of(root);
  if (settings.config.state === undefined) return own;
  const { sharedDecisions } = await import('../services/decisions/decisions.ts');
  return sharedDecisions(own, view);
}

/** What the user has set about the programs of projects; folders that are not there trust nothing. */
async function trustPolicy({ trust, trustProject }: Settings['config'], from: Said): Promise<TrustPolicy> {
  const rule = RULES.find((each) => each === trust[0]);
  const folders = rule === undefined ? await Promise.all(trust.map((folder) => realFolder(folder))) : [];
  return {
    rule: trustProject && rule !== 'never' ? 'always' : (rule ?? 'ask'),
    folders: folders.filter((folder) => folder !== undefined),
    from,
  };
}

const RULES = ['ask', 'always', 'never'] as const;

/** Where the audits of all machines of a team are together, if it has a database. */
export async function teamAudit({ team, state }: Settings): Promise<SharedAudit | undefined> {
  const { machineName } = await import('../kit/project-log.ts');
  return (await team.get())?.audit(() => machineName(state));
}
