import { say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { hunksOf } from '../../base/text/diff.ts';
import type { HostState } from '../context.ts';

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
  /** Why nothing was done, and what to do about it. */
  problem: z.string().optional(),
  /** What had been added to our entry: it has been left out, or it has stayed. */
  dropped: z.array(z.string()).optional(),
  kept: z.array(z.string()).optional(),
  /** The change as `diff -u` writes it. */
  diff: z.string().optional(),
  /** The text to paste into the file. */
  text: z.string().optional(),
  /** The command by which the host does it itself. */
  own: z.string().optional(),
  /** What is left to do in the host. */
  after: z.string().optional(),
});

export type Result = z.output<typeof resultSchema>;

interface Changed {
  outcome: Result['outcome'];
  before: string | undefined;
  after: string | undefined;
  added: { lines: readonly string[]; stays: boolean };
}

export type Targets = [HostState, ...HostState[]];

/** Those that share a file and its key, together: they share the entry. */
export function byFile(states: readonly HostState[]): Targets[] {
  const groups = new Map<string, Targets>();
  for (const state of states) {
    const group = groups.get(state.file);
    if (group === undefined) groups.set(state.file, [state]);
    else group.push(state);
  }
  return [...groups.values()];
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

const SAID: Readonly<Record<Result['outcome'], string>> = {
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
    const { name, scope, file, installed, outcome, problem, diff, text, own } = result;
    const done = say((dry ? WOULD[outcome] : undefined) ?? SAID[outcome]);
    const missing =
      installed || ['absent', 'removed'].includes(outcome) ? '' : t` (it does not seem to be installed)`;
    return [
      t`- ${name}: ${done}${scope === 'project' ? t` in this project` : ''}, ${file}${missing}`,
      ...(problem === undefined ? [] : [`  ${problem}`]),
      ...additionLines(result, dry),
      ...(diff === undefined || diff === '' ? [] : [diff]),
      ...(text === undefined ? [] : [text.trimEnd()]),
      ...(own === undefined ? [] : [t`  or: ${own}`]),
    ];
  });
}

/** What a host would obey beside our command line, no matter who has written it. */
function additionLines({ scope, dropped = [], kept = [] }: Result, dry: boolean): string[] {
  if (dropped.length > 0)
    return [
      dry
        ? t`  The project has added this to the entry. It would be left out; --force keeps it:`
        : t`  The project had added this to the entry. It has been left out:`,
      ...dropped.map((line) => `    ${line}`),
    ];
  if (kept.length === 0) return [];
  return [
    scope === 'user'
      ? t`  Kept, because it is in your own file:`
      : t`  Kept because of --force, though it comes from the project. Your host will obey it; it was not started here:`,
    ...kept.map((line) => `    ${line}`),
  ];
}
