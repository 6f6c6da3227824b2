import { t } from '../base/text/message.ts';
import { basename, join } from 'node:path';
import type { Seen } from '../base/files/keeper.ts';
import { isBelow } from '../base/files/open-file.ts';
import { withoutHidden } from '../base/text/hidden.ts';
import { those, present } from '../base/values.ts';
import type { DeclaredModule } from '../model/module.ts';
import { type Origin, type OriginKind, kindCalled, originList, originsCalled } from '../model/record.ts';
import {
  bmadSkillsIn,
  listedSkills,
  moduleFoldersIn,
  nameOfFolder,
  plainParts,
  rootsIn,
  shapeOf,
  SKILL_FOLDERS,
} from './bmad-folders.ts';
import { readMarketplace } from './marketplace.ts';
import {
  DISK,
  diskSeenBy,
  type Disk,
  type Opener,
  folderTree,
  type Source,
  type Tree,
  mountedTree,
  type Mount,
} from './tree.ts';
import { quoted } from '../base/errors.ts';
import { fold } from '../base/text/suggest.ts';

export { bmadPlace } from './bmad-folders.ts';

/** Which origins take part: all of them, only the project's, only the user's, or only remote ones. */
type DiscoveryMode = 'auto' | 'local' | 'user' | 'strict';

export interface DiscoveryRequest {
  mode: DiscoveryMode;
  project: string | undefined;
  /** Folders named on the command line or in a file, in order. */
  paths: readonly string[];
  /** BMAD_ROOT, if set. */
  root: string | undefined;
  /** Git sources that are on this machine, in order. */
  git: readonly GitMount[];
  home: string;
  maxFileBytes: number;
  /** Hears of every place that is looked at, now and later. */
  seen?: Seen | undefined;
}

/** The files of one commit of a git source. */
export interface GitMount {
  label: string;
  /** What a plain folder of agents or skills is called as a module. */
  name: string;
  folder: string;
  source: string;
  commit: string;
}

export interface Discovered {
  sources: Source[];
  /** Folders that were asked for and gave nothing, and what in them cannot be used. */
  warnings: string[];
}

const PRIORITY: Record<OriginKind, number> = { project: 1, cli: 2, env: 3, user: 4, git: 5, package: 9 };

/** A root beside another of the same origin comes a little after it, and always before the next origin. */
const STEP = 0.01;

/** Finds the BMAD content of the project, of named folders and of the user. The built-in content is added elsewhere. */
export async function discoverSources(request: DiscoveryRequest): Promise<Discovered> {
  const { mode, project, paths, root, home } = request;
  const found: Discovered = { sources: [], warnings: [] };
  const { maxFileBytes, seen } = request;
  const watched = diskSeenBy(seen);
  /**
   * Opens what is in a folder, and nothing that a link in it leads to, now or later. What is elsewhere by its own path was
   * found to be BMAD's.
   */
  const openIn = (top: string, disk: Disk): Opener => ({
    disk,
    open: (folder, shows) =>
      folderTree(folder, maxFileBytes, {
        shows,
        within: isBelow(top, folder) ? top : folder,
        seen: disk.seen,
      }),
  });
  /** In the user's own folders, links are the user's business. */
  const openOwn: Opener = {
    disk: watched,
    open: (folder, shows) => folderTree(folder, maxFileBytes, { shows, seen }),
  };

  async function add(
    folder: string,
    kind: OriginKind,
    label: string,
    {
      offset = 0,
      room = 0.5,
      name,
      git,
    }: { offset?: number; room?: number; name?: string; git?: Origin['git'] } = {},
  ): Promise<void> {
    const real = await watched.realFolder(folder);
    // The files of a commit stay as they are; they can only go altogether.
    const opener = kind === 'user' ? openOwn : openIn(real ?? folder, kind === 'git' ? DISK : watched);
    const warn = (message: string): void =>
      void found.warnings.push(`${git?.source ?? `${label} ${folder}`}: ${message}`);
    const mounts =
      real === undefined
        ? []
        : kind === 'project'
          ? await mountsOfProject(real, opener, warn)
          : await mountsOfFolder(real, opener, warn, name);
    const step = Math.min(STEP, room / mounts.length);
    for (const [index, { place, parts, ...about }] of mounts.entries()) {
      const origin: Origin = {
        kind,
        displayName: index === 0 ? label : `${label} (${withoutHidden(place) || 'modules'})`,
        root: join(real ?? folder, place),
        priority: rounded(PRIORITY[kind] + offset + index * step),
        ...present({ git }),
      };
      found.sources.push({ origin, tree: mountedTree(origin.root, parts), ...about });
    }
    if (mounts.length === 0 && (kind === 'cli' || kind === 'env' || kind === 'git')) {
      found.warnings.push(
        `${git?.source ?? `${label} ${folder}`}: ${real === undefined ? t`there is no such folder` : t`there is no BMAD content in it`}`,
      );
    }
  }

  if ((mode === 'auto' || mode === 'local') && project !== undefined)
    await add(project, 'project', 'Project');
  if (mode === 'auto') {
    const room = 1 / Math.max(10, paths.length);
    for (const [index, path] of paths.entries())
      await add(path, 'cli', 'Path', { offset: index * room, room });
    if (root !== undefined) await add(root, 'env', 'BMAD_ROOT');
  }
  if (mode === 'auto' || mode === 'user') {
    await add(join(home, '.bmad'), 'user', 'User');
    await addUserSkills(home, found, openOwn);
  }
  if (mode === 'auto' || mode === 'strict') {
    const room = 1 / Math.max(10, request.git.length);
    for (const [index, { label, name, folder, source, commit }] of request.git.entries())
      await add(folder, 'git', label, { offset: index * room, room, name, git: { source, commit } });
  }
  return found;
}

/** Takes away what floating-point sums leave behind, so that people read 2.1. */
function rounded(priority: number): number {
  return Math.round(priority * 1e9) / 1e9;
}

interface RootMounts {
  /** The root's own folder, from the folder that was looked at. */
  place: string;
  parts: Mount[];
  /** What is known about its modules beside the files. */
  name?: string;
  declared?: readonly DeclaredModule[];
}

/** The roots in a project folder; the skills in the assistants' folders belong to the first root that is of version 6. */
async function mountsOfProject(
  project: string,
  opener: Opener,
  warn: (message: string) => void,
): Promise<RootMounts[]> {
  const { disk, open } = opener;
  const roots = await rootsIn(project, disk, warn);
  const treeOf = ({ name, elsewhere }: (typeof roots)[number]): Tree =>
    elsewhere === undefined ? open(join(project, name)) : open(elsewhere, isNoMemory);
  const [main, ...others] = roots.filter(({ shape }) => shape === 'v6');
  const listed = main === undefined ? new Set<string>() : await listedSkills(treeOf(main));
  const skills = await skillMounts(project, listed, opener);
  return those<RootMounts>(
    main === undefined
      ? skills.length > 0 && { place: '', parts: skills }
      : { place: main.name, parts: [{ at: '', tree: treeOf(main) }, ...skills] },
    others.map((root) => ({ place: root.name, parts: [{ at: '', tree: treeOf(root) }] })),
    roots
      .filter(({ shape }) => shape === 'v4')
      .map((root) => ({ place: root.name, parts: [{ at: root.name, tree: treeOf(root) }] })),
  );
}

/** What another project remembers is not for this one, even if both share one BMAD folder. */
const isNoMemory = (path: string): boolean => path.split('/', 1)[0] !== '_memory';

async function skillMounts(
  folder: string,
  listed: ReadonlySet<string>,
  { disk, open }: Opener,
): Promise<Mount[]> {
  const mounts: Mount[] = [];
  const top = (await disk.realFolder(folder)) ?? folder;
  for (const skills of SKILL_FOLDERS) {
    for (const { name, place } of await bmadSkillsIn(join(folder, skills), listed, top, disk)) {
      mounts.push({ at: `${skills}/${name}`, tree: open(place) });
    }
  }
  return mounts;
}

/**
 * A folder that was named in the configuration: a BMAD root; a project, modules, or a project with its own modules; a
 * folder of skills, agents and workflows. Content that does not say its name is called by the folder, or as given.
 */
async function mountsOfFolder(
  folder: string,
  opener: Opener,
  warn: (message: string) => void,
  name = nameOfFolder(folder),
): Promise<RootMounts[]> {
  const { disk, open } = opener;
  if ((await shapeOf(folder, basename(folder), disk)) !== undefined)
    return [{ place: '', parts: [{ at: '', tree: open(folder) }] }];
  const roots = await mountsOfProject(folder, opener, warn);
  const marketplace = await readMarketplace(folder, opener, warn);
  if (marketplace !== undefined) return [...roots, { place: '', name, ...marketplace }];
  const inRoots = new Set(roots.map(({ place }) => place));
  const modules = (await moduleFoldersIn(folder, name, disk)).filter(({ path }) => !inRoots.has(path));
  if (modules.length > 0) {
    const parts = modules.map(({ at, path }) => ({ at, tree: open(join(folder, path)) }));
    return [...roots, { place: '', name, parts }];
  }
  if (roots.length > 0) return roots;
  const parts = await plainParts(folder, name, opener);
  return parts.length === 0 ? [] : [{ place: '', name, parts, declared: [{ code: name }] }];
}

/** Skills the user has for all projects, in the assistants' folders of the home folder. */
async function addUserSkills(home: string, found: Discovered, opener: Opener): Promise<void> {
  const parts = await skillMounts(home, new Set(), opener);
  if (parts.length === 0) return;
  const origin: Origin = {
    kind: 'user',
    displayName: t`User skills`,
    root: home,
    priority: PRIORITY.user + 0.5,
  };
  found.sources.push({ origin, tree: mountedTree(home, parts) });
}

interface Ordered {
  sources: Source[];
  /** Words of the order that say nothing, and why. */
  warnings: string[];
}

/**
 * The sources with the priorities that a custom order of origins gives them: first those it names, in its order, then the
 * others as usual.
 */
export function inOrder(sources: readonly Source[], order: readonly string[]): Ordered {
  if (order.length === 0) return { sources: [...sources], warnings: [] };
  const usual = sources.map(({ origin }) => origin).sort((a, b) => a.priority - b.priority);
  const entries = order.map((word, index) => ({ word, index, kind: kindCalled(word) }));
  const places = new Map<Origin, number>();
  // A name says more than a kind, wherever it stands.
  for (const { word, index } of [
    ...entries.filter(({ kind }) => kind === undefined),
    ...entries.filter(({ kind }) => kind !== undefined),
  ]) {
    const meant = originsCalled(word, usual).filter((origin) => !places.has(origin));
    const step = Math.min(0.01, 0.9 / Math.max(1, meant.length));
    for (const [at, origin] of meant.entries()) places.set(origin, index + 1 + at * step);
  }
  const warnings = entries.flatMap(({ word, index, kind }) => {
    const isSame = (other: (typeof entries)[number]): boolean =>
      kind === undefined ? fold(other.word) === fold(word) : other.kind === kind;
    if (entries.slice(0, index).some(isSame)) return [t`${quoted(word)} is there twice; the first counts`];
    return kind === undefined && originsCalled(word, usual).length === 0
      ? [t`${quoted(word)} is not an origin here, and is ignored; known: ${originList(usual)}`]
      : [];
  });
  return {
    warnings,
    sources: sources.map((source) => {
      const { origin } = source;
      const priority = places.get(origin) ?? order.length + origin.priority;
      return { ...source, origin: { ...origin, priority: Math.round(priority * 1e9) / 1e9 } };
    }),
  };
}
