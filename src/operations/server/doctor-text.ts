import * as z from 'zod';
import { ours, quoted } from '../../base/errors.ts';
import { tellsConflict } from '../../base/text/diff.ts';
import { visible } from '../../base/text/hidden.ts';
import { plural, say, t } from '../../base/text/message.ts';
import { those } from '../../base/values.ts';
import { qualifiedName } from '../../model/record.ts';
import type { Context, WatchReport, Workspace } from '../context.ts';

const checkSchema = z.object({
  level: z.enum(['ok', 'notice', 'broken']),
  about: z.enum(['entry', 'start', 'trust', 'tools', 'limit', 'twins']),
  text: z.string(),
  /** What a person does in the host or in its files. */
  fix: z.string().optional(),
});

/** One host in one scope; those that are neither installed nor connected are not there. */
export const hostsSchema = z.array(
  z.object({
    host: z.string(),
    name: z.string(),
    scope: z.enum(['user', 'project']),
    file: z.string(),
    installed: z.boolean(),
    found: z.enum(['ours', 'other', 'none', 'unreadable']),
    /** The command line of the entry. */
    starts: z.string().optional(),
    handshake: z
      .object({ ok: z.boolean(), tools: z.int(), ms: z.int(), trouble: z.string().optional() })
      .optional(),
    checks: z.array(checkSchema),
    /** What repairs it, in a terminal. */
    repair: z.string().optional(),
  }),
);

export type CheckedHost = z.output<typeof hostsSchema>[number];

/** What a careful person asks before working in a project that somebody else has written. */
export const safetySchema = z.object({
  /** What the project's completion contract would start, in lines; none if there is nothing to start. */
  programs: z.array(z.string()),
  /** Whether a person has allowed that on this machine. */
  allowed: z.boolean(),
  /** Where content comes from that is neither the project's own nor built in. */
  outside: z.array(z.string()),
  /** Built-in agents and workflows in whose place something else is served. */
  replaced: z.array(z.string()),
  /** Files with hidden characters, and names that look like others. */
  disguised: z.int(),
  /** The user's own folders that others on this machine may read. */
  open: z.array(z.string()),
  /** Stores that are damaged, newer or unreadable. */
  stores: z.array(z.string()),
});

export type Safety = z.output<typeof safetySchema>;

/** Whether every entry of ours works; a host that is not connected is no fault. */
export function isWell(hosts: readonly CheckedHost[]): boolean {
  return hosts.every(({ checks }) => checks.every(({ level }) => level !== 'broken'));
}

const FOUND: Readonly<Record<CheckedHost['found'], string>> = {
  ours: 'connected',
  other: 'has an entry that is not ours',
  none: 'not connected',
  unreadable: 'its file cannot be used',
};

const LEVELS = { ok: '', notice: 'Notice: ', broken: 'BROKEN: ' } as const;

export function hostLines(hosts: readonly CheckedHost[]): string[] {
  if (hosts.length === 0) return [t`Hosts: none found on this machine`];
  return [
    t`Hosts:`,
    ...hosts.flatMap((host) => {
      const { standing, checks } = hostWords(host);
      return [`- ${standing}\n  ${host.file}`, ...checks.map((check) => `  ${check}`)];
    }),
  ];
}

/** How a host is connected, and what was noticed about it. */
export function hostWords({ name, scope, found, handshake, checks }: CheckedHost): {
  standing: string;
  checks: string[];
} {
  return {
    standing: t`${name} (${say(scope)}): ${say(FOUND[found])}${answered(handshake)}`,
    checks: checks.map(
      ({ level, text, fix }) => `${say(LEVELS[level])}${text}${fix === undefined ? '' : ` ${fix}`}`,
    ),
  };
}

function answered(handshake: CheckedHost['handshake']): string {
  if (handshake === undefined) return '';
  const { ok, tools, ms, trouble } = handshake;
  const seconds = (ms / 1000).toFixed(1);
  return ok
    ? t`, answers with ${plural(tools, 'tool')} after ${seconds} s`
    : t`, DOES NOT ANSWER: ${trouble ?? ''}`;
}

const NAMED = 6;

type Seen = readonly { about: string; text: string }[];

const DISGUISES = new Set(['hidden-characters', 'look-alike']);

export async function safetyOf(
  { catalogue, project }: Workspace,
  context: Context,
  findings: Seen,
): Promise<Safety> {
  const consent =
    project.root === undefined
      ? undefined
      : await (
          await (await context.state(project.root)).completion()
        )
          .consent()
          .catch(ours(({ message }) => ({ empty: false, summary: [message], allowed: false })));
  const outside = catalogue.sources.filter(({ origin: { kind } }) => !['project', 'package'].includes(kind));
  const replaced = catalogue.displacing().map(({ record, by }) => {
    const [name, place] = [visible(qualifiedName(record)), visible(record.origin.displayName)];
    return by === undefined ? t`${name} of ${place}` : t`${name} of ${place}, by the name ${quoted(by)}`;
  });
  return {
    programs: consent === undefined || consent.empty ? [] : consent.summary,
    allowed: consent?.allowed ?? false,
    outside: outside.map(({ origin: { displayName, root, git } }) =>
      visible(`${displayName}, ${git === undefined ? root : t`${git.source} at ${git.commit.slice(0, 12)}`}`),
    ),
    replaced,
    disguised: findings.filter(({ about }) => DISGUISES.has(about)).length,
    open: await (await context.diagnosis()).openToOthers(),
    stores: findings.filter(({ about }) => about === 'memory-store').map(({ text }) => text),
  };
}

/** Only what deserves a look: most projects have nothing. */
export function safetyLines(safety: Safety): string[] {
  const { programs, allowed, outside, replaced, disguised, open, stores } = safety;
  const more = replaced.length > NAMED ? t`, and ${replaced.length - NAMED} more` : '';
  const lines = those(
    programs.length > 0 && [
      t`- Programs of this project, ${allowed ? t`allowed on this machine` : t`not allowed yet`}:`,
      ...programs.map((line) => `  ${line}`),
    ],
    outside.length > 0 && [t`- Content from outside the project:`, ...outside.map((line) => `  ${line}`)],
    replaced.length > 0 &&
      t`- Served instead of the built-in one: ${replaced.slice(0, NAMED).join(', ')}${more}`,
    disguised > 0 && t`- Hidden characters or look-alike names: ${disguised}, see the problems below`,
    open.length > 0 && t`- Open to other users of this machine: ${open.join(', ')}; mode 700 closes a folder`,
    stores.length > 0 && t`- Stores in trouble: ${stores.length}, see the problems below`,
  );
  return lines.length === 0 ? [t`Safety: nothing to report`] : [t`Safety:`, ...lines];
}

const NAMED_STATES = 3;

/** What is wrong with the project's own state: the kit's files, its memories and its runs. */
export async function stateFindings(context: Pick<Context, 'state' | 'memory'>) {
  const state = await context.state();
  const facts = await state.facts();
  const known = await facts.context();
  const memory = await context.memory(false);
  const mild = new Set(known.mild);
  const all = new Set(known.warnings);
  const parts: (() => Promise<readonly string[]>)[] = [
    () => memory.fileProblems(),
    async () => (await facts.museum()).problems,
    () => runProblems(state),
    async () => (await (await state.tasks()).queue.all()).problems,
    async () => (await (await state.handovers()).contracts.all()).problems,
    async () => conflictsInLedgers(await (await state.progress()).troubles()),
  ];
  for (const part of parts)
    for (const text of await part().catch(ours(({ message }) => [message]))) all.add(text);
  return [...all].map((text) => ({
    level: mild.has(text) ? ('notice' as const) : ('broken' as const),
    about: 'project-state' as const,
    text,
  }));
}

/** What else is wrong with planning files is told by the report itself. */
function conflictsInLedgers(troubles: readonly { file: string; message: string }[]): string[] {
  return troubles
    .filter(({ message }) => tellsConflict(message))
    .map(({ file, message }) => t`${file}: ${message}.`);
}

/** Files of runs that cannot be read; what merely does not fit together is told with the run itself. */
async function runProblems(state: Awaited<ReturnType<Context['state']>>): Promise<string[]> {
  const { branches } = await (await state.runs()).read();
  const all = branches.flatMap(({ runs }) => runs);
  const told = [...branches, ...all].flatMap(({ problems }) => problems).filter(tellsConflict);
  const unread = all.filter(({ status, problems }) => status === 'unknown' && !problems.some(tellsConflict));
  if (unread.length === 0) return told;
  const named = unread.slice(0, NAMED_STATES).map(({ id, problems }) => problems[0] ?? id);
  const more = unread.length > NAMED_STATES ? t`, and ${unread.length - NAMED_STATES} more` : '';
  return [...told, t`${plural(unread.length, 'run')} that cannot be read: ${named.join(' ')}${more}`];
}

type Why = WatchReport['polled'][number]['why'];

const REASONS: Record<Exclude<Why, 'asked'>, (code: string) => string> = {
  far: (system) => t`it is on a network or shared disk (${system})`,
  many: () => t`it holds too many folders to watch`,
  limit: (code) => t`the system cannot watch more folders (${code})`,
};

/** What a person can do about the limits of Linux. */
const REMEDIES: Record<string, string> = {
  ENOSPC: ' Raise fs.inotify.max_user_watches to have changes reported immediately.',
  EMFILE:
    ' Raise fs.inotify.max_user_instances, or the limit of open files, to have changes reported immediately.',
};

/** Folders whose changes are found by looking now and then, though nobody has asked for that. */
export function watchFindings(report: WatchReport | undefined) {
  return (report?.polled ?? []).flatMap(({ path, why, code = '' }) => {
    if (why === 'asked') return [];
    const text = t`Changes in ${path} are polled: ${REASONS[why](code)}.${say(REMEDIES[code] ?? '')}`;
    return [{ level: 'notice' as const, about: 'watching' as const, text }];
  });
}
