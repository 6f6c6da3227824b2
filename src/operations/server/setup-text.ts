import * as z from 'zod';
import { BmadError, ours } from '../../base/errors.ts';
import { repositoryAt } from '../../base/files/repository.ts';
import { hunksOf } from '../../base/text/diff.ts';
import { say, t } from '../../base/text/message.ts';
import { isYes } from '../../base/text/text.ts';
import { grouped, present, those } from '../../base/values.ts';
import type { Call, Context, HostPerson, HostSetup, HostState } from '../context.ts';
import { linesPlace } from '../project/state-place.ts';

const OUTCOMES = [
  'written',
  'updated',
  'unchanged',
  'removed',
  'absent',
  'shared',
  'refused',
  'printed',
] as const;

/** What was done for a host, or would be. */
export const resultSchema = z.object({
  host: z.string(),
  name: z.string(),
  scope: z.enum(['user', 'project']),
  file: z.string(),
  installed: z.boolean(),
  outcome: z.enum(OUTCOMES),
  /** Why nothing was done, or not everything, and what to do about it. */
  problem: z.string().optional(),
  /** What had been added to our entry: it has been left out, or it has stayed. */
  dropped: z.array(z.string()).optional(),
  kept: z.array(z.string()).optional(),
  /** What somebody else's entry said, and ours does not. */
  left: z.array(z.string()).optional(),
  /** Where the file as it was before is kept. */
  copy: z.string().optional(),
  /** The change as `diff -u` writes it. */
  diff: z.string().optional(),
  /** The text to paste into the file. */
  text: z.string().optional(),
  /** The command by which the host does it itself. */
  own: z.string().optional(),
  /** The commands that were written for it, or taken away, as people type them. */
  commands: z.array(z.string()).optional(),
  /** What is left to do in the host. */
  after: z.array(z.string()).optional(),
});

export type Result = z.output<typeof resultSchema>;

export const isConnected = ({ outcome }: Result): boolean =>
  ['written', 'updated', 'unchanged'].includes(outcome);

/** What is left to do, host by host. */
export const restLines = (results: readonly Result[]): string[] =>
  results.flatMap(({ name, after = [] }) => after.map((text) => t`${name}: ${text}`));

/** What to say in a host first: it needs nothing from the project, and shows what the server knows of it. */
export const FIRST_WISH = 'Use bmad: what is the next step of this project?';

export const firstWords = (connected: readonly Result[]): string =>
  t`Restart ${connected.map(({ name }) => name).join(', ')}, open your project and say:`;

interface Changed {
  outcome: Result['outcome'];
  before: string | undefined;
  after: string | undefined;
  copy?: string;
  added: { lines: readonly string[]; stays: boolean; left?: readonly string[] };
}

type Targets = [HostState, ...HostState[]];

/** Those that share a file and its key, together: they share the entry. */
export function byFile(states: readonly HostState[]): Targets[] {
  return [...grouped(states, ({ file }) => file).values()] as Targets[];
}

/** The results for the hosts of one file; a file that cannot be changed does not keep the others from being changed. */
export async function resultsOf(
  targets: Targets,
  dry: boolean,
  work: () => Promise<Changed>,
): Promise<Result[]> {
  const told = await work().then(
    (change) => ({
      outcome: change.outcome,
      ...(change.added.lines.length === 0
        ? {}
        : { [change.added.stays ? 'kept' : 'dropped']: [...change.added.lines] }),
      ...((change.added.left ?? []).length === 0 ? {} : { left: [...(change.added.left ?? [])] }),
      ...present({ copy: change.copy }),
      ...(dry ? { diff: unified(targets[0].file, change) } : {}),
    }),
    (error: unknown) => {
      if (!(error instanceof BmadError)) throw error;
      return { outcome: 'refused' as const, problem: [error.message, error.hint].filter(Boolean).join(' ') };
    },
  );
  return targets.map((target) => ({ ...plainResult(target), ...told }));
}

export function plainResult({ host: { id, name }, scope, file, installed }: HostState) {
  return { host: id, name, scope, file, installed };
}

const CONTEXT_LINES = 3;

/** A change as `diff -u` writes it. */
function unified(file: string, { before, after }: Changed): string {
  if (before === after) return '';
  const hunks = hunksOf(before ?? '', after ?? '', CONTEXT_LINES).map(({ oldStart, newStart, lines }) => {
    const count = (sign: string): number =>
      lines.filter((line) => line.startsWith(' ') || line.startsWith(sign)).length;
    return [`@@ -${oldStart},${count('-')} +${newStart},${count('+')} @@`, ...lines].join('\n');
  });
  const side = (text: string | undefined): string => (text === undefined ? '/dev/null' : file);
  return `--- ${side(before)}\n+++ ${side(after)}\n${hunks.join('\n')}`;
}

export const SAID: Readonly<Record<Result['outcome'], string>> = {
  written: 'connected',
  updated: 'updated',
  unchanged: 'already connected',
  removed: 'removed',
  absent: 'there was nothing to remove',
  shared: 'kept, because another host uses the same file',
  refused: 'NOT CHANGED',
  printed: 'to be pasted',
};

const WOULD: Readonly<Partial<Record<Result['outcome'], string>>> = {
  written: 'would be connected',
  updated: 'would be updated',
  removed: 'would be removed',
};

export function resultLines(results: readonly Result[], dry: boolean): string[] {
  return results.flatMap((result) => {
    const { name, scope, file, installed, outcome, problem, diff, text, own, copy } = result;
    const { commands = [], left = [] } = result;
    const done = say((dry ? WOULD[outcome] : undefined) ?? SAID[outcome]);
    const missing =
      installed || ['absent', 'removed'].includes(outcome) ? '' : t` (it does not seem to be installed)`;
    return those(
      t`- ${name}: ${done}${scope === 'project' ? t` in this project` : ''}, ${file}${missing}`,
      problem !== undefined && `  ${problem}`,
      commands.length > 0 && t`  Its commands: ${commands.join(', ')}`,
      additionLines(result, dry),
      indented(t`  Left out, because it was for the other server:`, left),
      copy !== undefined && outcome === 'updated' && t`  The file as it was: ${copy}`,
      // In a fence, because a terminal would take its lines for a list.
      diff !== undefined && diff !== '' && ['```diff', diff, '```'],
      text?.trimEnd(),
      own !== undefined && t`  or: ${own}`,
    );
  });
}

/** What a host would obey beside our command line, no matter who has written it. */
function additionLines({ scope, dropped = [], kept = [] }: Result, dry: boolean): string[] {
  if (dropped.length > 0)
    return indented(
      dry
        ? t`  The project has added this to the entry. It would be left out; --force keeps it:`
        : t`  The project had added this to the entry. It has been left out:`,
      dropped,
    );
  return indented(
    scope === 'user'
      ? t`  Kept, because it is in your own file:`
      : t`  Kept because of --force, though it comes from the project. Your host will obey it; it was not started here:`,
    kept,
  );
}

/** Lines under their title; nothing where there are none. */
function indented(title: string, texts: readonly string[]): string[] {
  return texts.length === 0 ? [] : [title, ...texts.map((line) => `    ${line}`)];
}

export interface Asking {
  ask(prompt: string): Promise<string>;
  choose: NonNullable<Call['choose']>;
  context: Context;
  found: HostSetup;
  /** What was written besides the hosts, in words. */
  notes: string[];
}

/** Has a person pick hosts, and asks once for what agents and git should know. */
export async function askedFor(states: readonly HostState[], asking: Asking): Promise<HostState[]> {
  const picked = await withApproval(await pickedOf(states, asking), asking);
  await askPerson(asking);
  await askIgnored(asking);
  await askShared(asking);
  return picked;
}

/** All hosts that are known, those that are here first and chosen. */
async function pickedOf(states: readonly HostState[], { choose }: Asking): Promise<HostState[]> {
  const sorted = [...states].sort((one, other) => Number(other.installed) - Number(one.installed));
  const picked = new Set(
    await choose(
      t`Which hosts shall be connected?`,
      sorted.map(({ host, file, found, installed }) => ({
        value: host.id,
        name: host.name,
        about: [
          ...(installed ? [] : [t`not found on this machine`]),
          ...(found === 'none' ? [] : [say(STANDING[found])]),
          file,
        ].join(', '),
        // Somebody else's entry is replaced only if the person asks for it by name.
        on: installed && (found === 'ours' || found === 'none'),
      })),
    ),
  );
  if (picked.size === 0) throw new BmadError('cancelled', t`No host was chosen; nothing was written.`);
  return states.filter(({ host }) => picked.has(host.id));
}

/** What a host refuses where it cannot ask is allowed only by a person, once, and in their own file: a project's is for others too. */
async function withApproval(picked: readonly HostState[], { ask, found }: Asking): Promise<HostState[]> {
  return Promise.all(
    picked.map(async (state) => {
      const { host, scope } = state;
      if (scope === 'project' || host.approval === undefined || (await found.hosts.isApproved(state)))
        return state;
      const typed = await ask(
        t`"codex exec" cannot ask, so it refuses the completion contract,\nwhich runs programs of trusted projects. Allow it there? [y/N] `,
      );
      return isYes(typed) ? { ...state, more: host.approval } : state;
    }),
  );
}

const STANDING: Readonly<Record<Exclude<HostState['found'], 'none'>, string>> = {
  ours: 'already connected',
  other: 'has another entry of this name',
  unreadable: 'its file cannot be changed',
};

/** Asked once: whoever has answered is not asked again, and can change the file. */
async function askPerson({ ask, found, notes }: Asking): Promise<void> {
  const known = await found.person().catch(ours((): HostPerson => ({})));
  if (known.user_name !== undefined && known.communication_language !== undefined) return;
  const usual = known.user_name ?? found.systemName ?? '';
  const name =
    typedLine(await ask(t`What should agents call you?${usual === '' ? '' : ` [${usual}]`} `)) || usual;
  const spoken = known.communication_language ?? 'English';
  const language = typedLine(await ask(t`Which language should they speak? [${spoken}] `)) || spoken;
  const file = await found.setPerson({
    ...(name === '' ? {} : { user_name: name }),
    communication_language: language,
  });
  notes.push(t`Your name and language are in ${file}; a project's own settings come first.`);
}

const LONGEST = 80;

function typedLine(typed: string): string {
  return typed
    .replace(/\p{Cc}/gu, '')
    .trim()
    .slice(0, LONGEST);
}

/** State that git would see is offered for .gitignore; by default colleagues get it. */
async function askIgnored({ ask, context, found, notes }: Asking): Promise<void> {
  const { root } = found.hosts;
  if (root === undefined) return;
  const place = await (await context.state(root)).place().catch(ours(() => undefined));
  if (place === undefined || place.home !== 'project') return;
  const shared = [...new Set(place.parts.filter((part) => part.shared).map(({ folder }) => `${folder}/`))];
  const folders = await found.lacking(root, '.gitignore', shared);
  if (folders.length === 0) return;
  const typed = await ask(
    t`The state of ${root} is in ${folders.join(', ')}; colleagues get it once it is committed.\nAdd these lines to .gitignore instead? [y/N] `,
  );
  if (!isYes(typed)) return askMerging({ ask, found, notes }, root, place.merging);
  await found.addLines(root, '.gitignore', folders);
  notes.push(t`Added to .gitignore: ${folders.join(', ')}`);
}

/** Memories are private until a person says otherwise; who has chosen is not asked again. */
async function askShared({ ask, context, found, notes }: Asking): Promise<void> {
  const { root } = found.hosts;
  if (root === undefined || (await repositoryAt(root)) === undefined) return;
  const state = await context.state(root).catch(ours(() => undefined));
  const place = await state?.place().catch(ours(() => undefined));
  if (state === undefined || place?.unused !== false || place.home === 'user') return;
  if (place.chosen) {
    notes.push(
      linesPlace(place) === 'shared'
        ? t`Git sees the memories of this project, as you chose.`
        : t`The memories of this project are private, as you chose.`,
    );
    return;
  }
  if (linesPlace(place) === 'shared') return;
  const typed = await ask(
    t`The memories of ${root} are private: git ignores them.\nShare them with colleagues through git? [y/N] `,
  );
  await state.shareLines(isYes(typed));
  if (isYes(typed)) notes.push(t`Git sees the memories of this project now.`);
}

/** Two people who commit the same files get conflicts in them; with a few lines for git most of these do not come about. */
async function askMerging(
  { ask, found, notes }: Pick<Asking, 'ask' | 'found' | 'notes'>,
  root: string,
  merging: Awaited<ReturnType<Awaited<ReturnType<Context['state']>>['place']>>['merging'],
): Promise<void> {
  const wanted: typeof merging = [];
  for (const { file, lines } of merging) wanted.push({ file, lines: await found.lacking(root, file, lines) });
  const lacking = wanted.filter(({ lines }) => lines.length > 0);
  if (lacking.length === 0) return;
  const shown = lacking.map(({ file, lines }) => `${file}:\n${lines.map((each) => `  ${each}\n`).join('')}`);
  const typed = await ask(
    t`If others commit these files too, git can keep the lines of both.\n${shown.join('')}Add these lines? [y/N] `,
  );
  if (!isYes(typed)) return;
  for (const { file, lines } of lacking) {
    await found.addLines(root, file, lines);
    notes.push(t`Added to ${file}: ${lines.join(', ')}`);
  }
}
