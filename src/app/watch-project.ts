import { dirname, join, resolve } from 'node:path';
import { realFolder } from '../base/files/files.ts';
import { type Place, watchFolders } from '../base/files/watch-folders.ts';
import { t } from '../base/text/message.ts';
import { userConfigFile } from '../config/locations.ts';
import { folderAt, kitAtHome } from '../kit/kit.ts';
import type { MovedListener, Workspace } from '../operations/context.ts';
import { ROOT_FOLDERS } from '../base/product.ts';
import { SKILL_FOLDERS } from '../sources/bmad-folders.ts';
import type { Settings } from './settings.ts';

/** A change is looked at when nothing has moved for this long, or after this long of moving. */
const QUIET_MS = 100;
const LONGEST_MS = 400;
/** Clients wait for 300 ms without news before they ask again: closer together, they would never ask. */
const LEAST_GAP_MS = 500;
const LONGEST_GAP_MS = 8_000;
/** Looking takes at most a part of the time, however much moves: it rests this many times as long as it took to compute. */
const SHARE = 4;
/** A change may reveal new places, and looking at those may reveal more. */
const MOST_LOOKS = 4;

export type ProjectWatch = ReturnType<typeof watchProject>;

/**
 * Watches the places that the answers about the project come from. Whatever moves there makes it look again; while nobody
 * listens, when the next call is over.
 */
export function watchProject(
  settings: Settings,
  workspaces: { get(): Promise<Workspace> },
  listeners: ReadonlySet<MovedListener>,
) {
  const { config, log } = settings;
  const isHeard = (): boolean => listeners.size > 0;
  const folders = watchFolders(() => (isHeard() ? moved() : (missed = true)), {
    polls: config.watch === 'poll',
    isHeard,
  });
  /** Something has moved while nobody listened. */
  let missed = false;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let looking = false;
  let again = false;
  let since: number | undefined;
  let rests = 0;
  /** The first time most of it goes into loading. */
  let first = true;
  let gap = LEAST_GAP_MS;
  let told = '';

  function moved(): void {
    if (closed) return;
    if (looking) {
      again = true;
      return;
    }
    const now = performance.now();
    since ??= now;
    const due = Math.max(Math.min(now + QUIET_MS, since + LONGEST_MS), rests);
    clearTimeout(timer);
    timer = setTimeout(() => void look(), due - now);
    timer.unref();
  }

  async function look(): Promise<void> {
    looking = true;
    since = undefined;
    const began = process.cpuUsage();
    const mattered = await lookAtAll().catch((error: unknown) => {
      log.info('watching', { error: String(error) });
      return false;
    });
    const { user, system } = process.cpuUsage(began);
    const costMs = first ? 0 : (user + system) / 1_000;
    first = false;
    // What keeps moving without making a difference, such as a build, is looked at less and less often.
    gap = mattered || !again ? LEAST_GAP_MS : gap * 2;
    rests = performance.now() + Math.min(LONGEST_GAP_MS, Math.max(gap, costMs * SHARE));
    looking = false;
    if (again) {
      again = false;
      moved();
    }
  }

  /** Answers whether anybody was told anything. */
  async function lookAtAll(): Promise<boolean> {
    const event = {};
    let mattered = false;
    let before = '';
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      if (closed) return false;
      const places = await placesOf(await workspaces.get(), settings);
      const key = JSON.stringify(places);
      if (key === before) break;
      before = key;
      // What has happened until these are watched is found by the next look.
      await folders.follow(places);
    }
    say();
    for (const heard of await Promise.all([...listeners].map((listener) => listener(event))))
      mattered ||= heard;
    return mattered;
  }

  /** Says once what the system has no room for, to those who are to hear of changes. */
  function say(): void {
    if (!isHeard()) return;
    const codes = folders.report().polled.flatMap(({ why, code }) => (why === 'limit' ? (code ?? []) : []));
    const now = [...new Set(codes)].join(' ');
    if (now !== '' && now !== told)
      log.warn(t`The system cannot watch more folders; changes are polled instead.`, { code: now });
    told = now;
  }

  let unfollow: (() => void) | undefined;
  async function follow(): Promise<void> {
    const database = await settings.team.get();
    if (!closed) unfollow = database?.follow(() => (isHeard() ? moved() : (missed = true)));
  }
  // Whoever asks for what it has is told what is wrong.
  if (config.state !== undefined) follow().catch(() => undefined);

  void look();
  return {
    report: folders.report,
    watch: folders.watch,
    /** Brings the watches up to date if something has moved while nobody listened: somebody asks, or listens again. */
    catchUp() {
      if (!missed && !isHeard()) return;
      missed = false;
      moved();
    },
    close() {
      closed = true;
      unfollow?.();
      clearTimeout(timer);
      folders.close();
    },
  };
}

/** What assistants keep beside skills, which lists go by. */
const BESIDE_SKILLS = ['skills', 'commands', 'command', 'prompts'];

/** Where something can happen that changes an answer about the project, the most telling first. */
async function placesOf({ project, catalogue }: Workspace, settings: Settings): Promise<Place[]> {
  const { outside, config, state } = settings;
  const { root } = project;
  const changing = catalogue.sources.filter(({ origin }) => !['package', 'git'].includes(origin.kind));
  const own = root === undefined ? [] : [root];
  const tops = [...own, outside.home];
  const roots = changing.map(({ origin }) => origin.root).filter((folder) => !tops.includes(folder));
  const shallow = [...own, dirname(userConfigFile(outside)), join(state, 'decisions')];
  const assistants = (await Promise.all(tops.map(assistantFolders))).flat();
  const deep = [
    ...roots,
    ...[...config.paths, config.root ?? []].flat().map((path) => resolve(outside.cwd, path)),
    ...own.flatMap((folder) => [...ROOT_FOLDERS, '.bmad-core'].map((name) => join(folder, name))),
    join(outside.home, '.bmad'),
    ...assistants.flatMap((folder) => BESIDE_SKILLS.map((name) => join(folder, name))),
    ...(root === undefined ? [] : await stateFolders(root, state, config.projectState)),
  ];
  return [
    ...[...new Set([...shallow, ...assistants])].map((path) => ({ path })),
    ...[...new Set(deep)].map((path) => ({ path, deep: true })),
  ];
}

/** The folders of assistants that there are in a project or with the user. */
async function assistantFolders(top: string): Promise<string[]> {
  const found = await Promise.all(
    SKILL_FOLDERS.map(async (skills) => realFolder(join(top, dirname(skills)))),
  );
  return found.filter((folder) => folder !== undefined);
}

/** Where the project's own state is or would be, and the documents that its progress is read from. */
async function stateFolders(
  root: string,
  state: string,
  keep: Settings['config']['projectState'],
): Promise<string[]> {
  const kit = await kitAtHome(root, state, keep);
  return [
    kit.memory ?? [],
    kit.output === undefined ? [] : join(root, kit.output),
    join(root, 'docs'),
    ...Object.values(kit.places).map(({ user }) => folderAt(user)),
  ].flat();
}
