import { isBelow } from '../../base/files/open-file.ts';
import { gitHead, gitIsAncestor } from '../../base/process/project-git.ts';
import { sha256 } from '../../base/sha256.ts';
import type { Decision, Decisions } from '../../model/decision.ts';
import type { Programs } from './programs.ts';
import type { Environment } from './run.ts';

/** What the user's own settings say about the programs of projects. */
export interface TrustPolicy {
  rule: 'ask' | 'always' | 'never';
  /** Folders whose projects are trusted, by their real paths. */
  folders: readonly string[];
  /** Where the rule comes from, in words. */
  from: string;
}

/** What decides whether programs may run: the settings of the user, and what people have decided. */
export interface TrustSetup {
  trust: TrustPolicy;
  decisions: Decisions;
  env: Environment;
}

export type Standing =
  | { allowed: true }
  /** `changed` names what is other than when a person allowed it; nothing if nobody ever did. */
  | { allowed: false; changed: string[] | undefined };

/** Whether these programs may run: by the settings of the user, or because a person has allowed the very same ones. */
export async function standingOf(programs: Programs, setup: TrustSetup): Promise<Standing> {
  const { rule, folders } = setup.trust;
  if (programs.commands.length === 0) return { allowed: true };
  if (rule === 'never') return { allowed: false, changed: undefined };
  if (rule === 'always' || folders.some((folder) => isBelow(folder, programs.root))) return { allowed: true };
  const last = await lastYes(programs, setup);
  if (last === undefined) return { allowed: false, changed: undefined };
  const changed = changedSince(last, programs);
  if (changed.length === 0) {
    const moved = await elsewhere(headsIn(last), await headOf(programs.root, setup.env), programs, setup);
    if (moved === undefined) return { allowed: true };
    changed.push(moved);
  }
  return { allowed: false, changed };
}

/** Each folder with scripts of its own is decided on by itself. */
const idOf = ({ folder }: Programs): string => (folder === '' ? '.' : folder);

async function lastYes(programs: Programs, { decisions }: TrustSetup): Promise<Decision | undefined> {
  const last = await decisions.last('programs', idOf(programs));
  return last?.yes === true ? last : undefined;
}

/** Names of parts that no file has. */
const COMMANDS = 'its commands';
const HEADS = 'git commits';
/** Between so many lines of history one can go back and forth without being asked again. */
const MOST_HEADS = 20;

function partsOf({ commands, files }: Programs): Record<string, string> {
  const digests = files.map(({ path, digest }) => [path, digest ?? ''] as const);
  return { [COMMANDS]: sha256(JSON.stringify(commands)), ...Object.fromEntries(digests) };
}

/** What is new, other or gone, and what nobody can read here; the digest of all has the last word. */
function changedSince({ digest, parts = {} }: Decision, programs: Programs): string[] {
  const now = partsOf(programs);
  const names = new Set([...Object.keys(now), ...Object.keys(parts)]);
  names.delete(HEADS);
  const changed = [...names].filter((name) => now[name] === '' || now[name] !== parts[name]);
  return changed.length === 0 && digest !== programs.digest ? [COMMANDS] : changed;
}

const headsIn = ({ parts }: Decision): string[] => parts?.[HEADS]?.split(' ') ?? [];

/** Notes that a person allowed these programs at this commit, beside those at which they were allowed before. */
export async function recordTrust(
  programs: Programs,
  head: string | undefined,
  setup: TrustSetup,
  { by, via }: Pick<Decision, 'by' | 'via'>,
): Promise<Decision> {
  const last = await lastYes(programs, setup);
  const heads = new Set([head ?? [], last === undefined ? [] : headsIn(last)].flat());
  const known = heads.size === 0 ? {} : { [HEADS]: [...heads].slice(0, MOST_HEADS).join(' ') };
  const parts = { ...partsOf(programs), ...known };
  const { digest } = programs;
  return setup.decisions.decide({ kind: 'programs', id: idOf(programs), digest, yes: true, by, via, parts });
}

/**
 * Why the code is not on a line of history that was allowed: neither older nor newer than a commit at which a person said
 * yes. Where git cannot tell, as in a shallow clone, it is not.
 */
async function elsewhere(
  allowed: readonly string[],
  head: string | undefined,
  { root }: Programs,
  { env }: TrustSetup,
): Promise<string | undefined> {
  if (head === undefined) return allowed.length === 0 ? undefined : 'it is no longer in git';
  if (allowed.includes(head)) return undefined;
  const follows = async (older: string, newer: string): Promise<boolean> =>
    (await gitIsAncestor(root, question(env), { older, newer })) === true;
  for (const one of allowed) if ((await follows(one, head)) || (await follows(head, one))) return undefined;
  return `commit ${head.slice(0, 12)}, which neither precedes nor follows one that was allowed`;
}

/** The commit that is checked out; nothing without git, and before the first commit. */
export const headOf = (root: string, env: Environment): Promise<string | undefined> =>
  gitHead(root, question(env));

const question = (env: Environment) => ({
  env,
  timeoutMs: 10_000,
  signal: new AbortController().signal,
});
