import { type Said, say, t } from '../../base/text/message.ts';
import { BmadError } from '../../base/errors.ts';
import { isBelow } from '../../base/files/open-file.ts';
import { gitHead, gitIsRelated } from '../../base/process/git.ts';
import { sha256 } from '../../base/values.ts';
import { visible } from '../../base/text/hidden.ts';
import type { Confirmed, ConfirmRequest } from '../../model/client.ts';
import type { DecidedBy, Decision, Decisions } from '../../model/memory.ts';
import { programLines, shownCommands, type Programs } from './programs.ts';
import type { Receipt } from './receipts.ts';
import type { Environment } from './run.ts';

/** What the user's own settings say about the programs of projects. */
export interface TrustPolicy {
  rule: 'ask' | 'always' | 'never';
  /** Folders whose projects are trusted, by their real paths. */
  folders: readonly string[];
  /** Where the rule comes from, in words. */
  from: Said;
}

/** What decides whether programs may run: the settings of the user, and what people have decided. */
export interface TrustSetup {
  trust: TrustPolicy;
  decisions: Decisions;
  env: Environment;
}

/** `changed` names what is other than when a person allowed it; nothing if nobody ever did. */
type Standing = { allowed: true } | { allowed: false; changed: string[] | undefined };

/** What the settings of the user say about these programs; nothing where people decide. */
function ruledOn({ commands, root }: Programs, { trust }: TrustSetup): Standing | undefined {
  const { rule, folders } = trust;
  if (commands.length === 0) return { allowed: true };
  if (rule === 'never') return { allowed: false, changed: undefined };
  return rule === 'always' || folders.some((folder) => isBelow(folder, root)) ? { allowed: true } : undefined;
}

/** Whether a person has allowed the very same programs, on this line of history. Git is asked last. */
async function decidedOn(
  programs: Programs,
  setup: TrustSetup,
  head: () => Promise<string | undefined> = () => headOf(programs.root, setup.env),
): Promise<Standing> {
  const own = await setup.decisions.last('programs', idOf(programs));
  // A script that was allowed for the project runs in every folder that brings no programs of its own.
  const last = own ?? (programs.scripted ? await setup.decisions.last('programs', ROOT) : undefined);
  if (last?.yes !== true) return { allowed: false, changed: undefined };
  const changed = changedSince(last, programs, own === undefined);
  if (own === undefined && changed.length > 0) return { allowed: false, changed: undefined };
  const moved =
    changed.length > 0 ? undefined : await elsewhere(headsIn(last), await head(), programs, setup);
  if (moved !== undefined) changed.push(moved);
  return changed.length === 0 ? { allowed: true } : { allowed: false, changed };
}

const ROOT = '.';

/** Each folder with scripts of its own is decided on by itself. */
const idOf = ({ folder }: Programs): string => (folder === '' ? ROOT : folder);

/** Names of parts that no file has. */
const COMMANDS = 'its commands';
const HEADS = 'git commits';
/** Between so many lines of history one can go back and forth without being asked again. */
const MOST_HEADS = 20;

function partsOf({ commands, files }: Programs): Record<string, string> {
  const digests = files.map(({ path, digest }) => [path, digest ?? ''] as const);
  return { [COMMANDS]: sha256(JSON.stringify(commands)), ...Object.fromEntries(digests) };
}

/** What is new, other or gone, and what nobody can read here; the digest of all has the last word, unless files alone count. */
function changedSince({ digest, parts = {} }: Decision, programs: Programs, filesOnly: boolean): string[] {
  const now = partsOf(programs);
  const names = new Set([...Object.keys(now), ...Object.keys(parts)]);
  names.delete(HEADS);
  if (filesOnly) names.delete(COMMANDS);
  const changed = [...names].filter((name) => now[name] === '' || now[name] !== parts[name]);
  return filesOnly ? changed : changed.length === 0 && digest !== programs.digest ? [COMMANDS] : changed;
}

const headsIn = ({ parts }: Decision): string[] => parts?.[HEADS]?.split(' ') ?? [];

/** Notes that a person allowed these programs at this commit, beside those at which they were allowed before. */
async function recordTrust(
  programs: Programs,
  head: string | undefined,
  setup: TrustSetup,
  { by, via }: Pick<Decision, 'by' | 'via'>,
): Promise<Decision> {
  const last = await setup.decisions.last('programs', idOf(programs));
  const heads = new Set([head ?? [], last?.yes === true ? headsIn(last) : []].flat());
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
  if (commit === undefined) return others.length === 0 ? undefined : t`it is no longer in git`;
  if (others.includes(commit) || (await gitIsRelated(root, gitQuestion(env), { commit, others })))
    return undefined;
  return t`commit ${commit.slice(0, 12)}, which neither precedes nor follows one that was allowed`;
}

/** The commit that is checked out; nothing without git, and before the first commit. */
export const headOf = (root: string, env: Environment): Promise<string | undefined> =>
  gitHead(root, gitQuestion(env));

const gitQuestion = (env: Environment) => ({
  env,
  timeoutMs: 10_000,
  signal: new AbortController().signal,
});

/** Who wants it to run. */
export interface Asking {
  /** Asks the person at the other end; not there where nobody can be asked. */
  confirm?: ((request: ConfirmRequest) => Promise<Confirmed>) | undefined;
  /** Whether it was typed at the command line. */
  typed?: true | undefined;
}

/**
 * Lets the programs of a project run only if a person has allowed them, now or before. Asks where somebody can be asked, and
 * remembers a yes for these very programs. Answers with what people have allowed; nothing where the settings do.
 */
export async function requireConsent(
  programs: Programs,
  setup: TrustSetup,
  { confirm, typed }: Asking,
): Promise<Consent | undefined> {
  if (ruledOn(programs, setup)?.allowed === true) return undefined;
  if (setup.trust.rule === 'never')
    throw new BmadError('forbidden', t`NOT_VERIFIED: no project may run its programs here.`, {
      hint: t`The setting trust is "never" (${setup.trust.from}).`,
    });
  const consent = await consentOf(programs, setup);
  if (consent.allowed) return consent;
  const answer = await confirm?.(consent.question);
  if (answer?.yes !== true) throw refusal(programs, consent.changed, answer, typed === true);
  await consent.record(typed === true ? 'terminal' : 'host');
  return consent;
}

/** What a run would start, whether it may, and the way to allow it. */
export type Consent = Awaited<ReturnType<typeof consentOf>>;

/** A person who allows it by hand decides about the project, whatever the settings say. */
export async function consentOf(programs: Programs, setup: TrustSetup) {
  const { root, digest, scripted } = programs;
  const commit = await headOf(root, setup.env);
  const isNothing = programs.commands.length === 0;
  const standing: Standing = isNothing
    ? { allowed: true }
    : await decidedOn(programs, setup, async () => commit);
  const changed = standing.allowed ? undefined : standing.changed;
  const lines = [
    t`Folder: ${visible(root)}`,
    commit === undefined
      ? t`It has no commit in git: you are asked again only when something changes that is shown here.`
      : t`Commit: ${commit}`,
    ...programLines(programs, { changed, texts: true }),
    say(RIGHTS),
    t`Digest: ${digest}`,
  ];
  const question: ConfirmRequest = {
    question:
      changed === undefined
        ? t`May this project run its own programs on this machine?`
        : t`What this project runs has changed. May it run on this machine?`,
    details: lines.join('\n'),
    yes: t`Allow what is shown here`,
  };
  return {
    root,
    /** What would run, whole, in lines for the person who decides; the same wherever somebody is asked. */
    lines,
    summary: [say(RIGHTS), ...programLines(programs, { changed, texts: false })],
    digest,
    commit,
    scripted,
    empty: isNothing,
    allowed: standing.allowed,
    changed,
    question,
    /** Notes a yes to what was read here. */
    record: (via: DecidedBy, by = personIn(setup)) => recordTrust(programs, commit, setup, { by, via }),
  };
}

const RIGHTS =
  'Once allowed, any of the project’s own code can run with your rights, not only what is shown here. Allow it only if you trust its author.';

/** The user as the system names them. */
export const personIn = ({ env }: Pick<TrustSetup, 'env'>): string =>
  env['USER'] ?? env['LOGNAME'] ?? env['USERNAME'] ?? 'unknown';

function trustArguments({ root, folder }: Programs): Record<string, string> {
  return { folder: root, ...(folder === '' ? {} : { working_dir: folder }) };
}

function refusal(
  programs: Programs,
  changed: readonly string[] | undefined,
  answer: Exclude<Confirmed, { yes: true }> | undefined,
  typed: boolean,
): BmadError {
  const what =
    changed === undefined
      ? programs.folder === ''
        ? t`NOT_VERIFIED: this project's programs have not been allowed to run on this machine`
        : t`NOT_VERIFIED: what this project runs in ${programs.folder} has not been allowed on this machine`
      : t`NOT_VERIFIED: what this project runs has changed since it was allowed (${changed.map((part) => (part === COMMANDS ? say(part) : part)).join(', ')})`;
  return new BmadError('forbidden', `${what}${answer === undefined ? '' : t`, and ${answer.why}`}.`, {
    subject: programs.root,
    hint: refusalHint(programs, typed, answer !== undefined),
    steps: [
      {
        operation: 'trust',
        args: trustArguments(programs),
        why: t`To allow it, for the user; then call this again`,
      },
    ],
  });
}

/** A model has to tell the user; at a command line the reader may be that user, or an agent with a shell. */
function refusalHint(programs: Programs, typed: boolean, asked: boolean): string {
  if (!typed)
    return t`Nothing was run. It would run: ${shownCommands(programs).join(', ')}. A person has to allow it first: tell the user now, and do not try to get around it.`;
  return asked
    ? t`Nothing was run.`
    : t`Nothing was run. Only a person may allow it: a program or an agent must not try to get around it.`;
}

/** Whether a run of the contract would verify anything now, and what stands in its way. */
type Way =
  /** It may run these. */
  | { may: 'run'; commands: string[] }
  /** A person has to allow these first: nobody has, or what it runs has changed since. */
  | { may: 'ask'; commands: string[]; changed: boolean }
  /** The user's settings forbid it; where they say so. */
  | { may: 'never'; from: Said }
  /** There is nothing that it could run. */
  | { may: 'nothing' };

/** What the last verification said, and whether there can be another. Nothing is run, and no files are compared. */
export interface VerifiedSoFar {
  /** The newest verdict that was given here; none where nothing was ever verified. */
  last: { status: 'PASS' | 'FAIL'; id: string; started: string } | undefined;
  way: Way;
}

/** The newest of the receipts that is a verdict: a run that could check nothing says nothing about the work. */
export function lastVerdict(
  receipts: readonly Receipt[],
  fromHere: (receipt: Receipt) => boolean,
): VerifiedSoFar['last'] {
  for (const receipt of receipts.toReversed()) {
    const { status, id, started } = receipt;
    if (status !== 'NOT_VERIFIED' && fromHere(receipt)) return { status, id, started };
  }
  return undefined;
}

export async function wayOf(programs: Programs, setup: TrustSetup): Promise<Way> {
  if (programs.commands.length === 0) return { may: 'nothing' };
  const { rule, from } = setup.trust;
  if (rule === 'never') return { may: 'never', from };
  const standing = ruledOn(programs, setup) ?? (await decidedOn(programs, setup));
  const commands = shownCommands(programs);
  return standing.allowed
    ? { may: 'run', commands }
    : { may: 'ask', commands, changed: standing.changed !== undefined };
}
