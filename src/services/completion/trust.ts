import { isBelow } from '../../base/files/open-file.ts';
import { gitHead, gitIsRelated } from '../../base/process/project-git.ts';
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

/** `changed` names what is other than when a person allowed it; nothing if nobody ever did. */
export type Standing = { allowed: true } | { allowed: false; changed: string[] | undefined };

/** What the settings of the user say about these programs; nothing where people decide. */
export function ruledOn({ commands, root }: Programs, { trust }: TrustSetup): Standing | undefined {
  const { rule, folders } = trust;
  if (commands.length === 0) return { allowed: true };
  if (rule === 'never') return { allowed: false, changed: undefined };
  return rule === 'always' || folders.some((folder) => isBelow(folder, root)) ? { allowed: true } : undefined;
}

/** Whether a person has allowed the very same programs, on this line of history. Git is asked last. */
export async function decidedOn(
  programs: Programs,
  setup: TrustSetup,
  head: () => Promise<string | undefined> = () => headOf(programs.root, setup.env),
): Promise<Standing> {
  const last = await lastYes(programs, setup);
  if (last === undefined) return { allowed: false, changed: undefined };
  const changed = changedSince(last, programs);
  const moved =
    changed.length > 0 ? undefined : await elsewhere(headsIn(last), await head(), programs, setup);
  if (moved !== undefined) changed.push(moved);
  return changed.length === 0 ? { allowed: true } : { allowed: false, changed };
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

/** Why the code is not on a line of history that was allowed; nothing where it is. Where git cannot tell, it is not. */
async function elsewhere(
  others: readonly string[],
  commit: string | undefined,
  { root }: Programs,
  { env }: TrustSetup,
): Promise<string | undefined> {
  if (commit === undefined) return others.length === 0 ? undefined : 'it is no longer in git';
  if (others.includes(commit) || (await gitIsRelated(root, question(env), { commit, others })))
    return undefined;
  return `commit ${commit.slice(0, 12)}, which neither precedes nor follows one that was allowed`;
}

/** The commit that is checked out; nothing without git, and before the first commit. */
export const headOf = (root: string, env: Environment): Promise<string | undefined> =>
  gitHead(root, question(env));

const question = (env: Environment) => ({
  env,
  timeoutMs: 10_000,
  signal: new AbortController().signal,
});
