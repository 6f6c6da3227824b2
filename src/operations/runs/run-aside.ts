import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import type { Step } from '../../base/step.ts';

/** Why a run is nothing to go on with: `old` ones can still be, the others not. */
export const asideSchema = z.object({
  kind: z.enum(['dead', 'old']),
  why: z.string(),
  /** The day of its last checkpoint. */
  since: z.string(),
  /** The workflow that does now what it did, by its name here. */
  instead: z.string().optional(),
});
export type RunAside = z.output<typeof asideSchema>;

interface SetAside {
  run_id: string;
  branch: string;
  aside?: RunAside | undefined;
}

/** `Run x cannot be resumed: it was last touched on 2026-02-27, and its workflow y is not here; build does its work now.` */
export function asideText({ run_id: id, aside }: Omit<SetAside, 'branch'>): string | undefined {
  if (aside === undefined) return undefined;
  return aside.kind === 'old'
    ? t`Run ${id} is old: ${asideWhy(aside)}.`
    : t`Run ${id} cannot be resumed: ${asideWhy(aside)}.`;
}

/** The same where it is said that the run is to be closed. */
export function asideWhy({ why, since, instead }: RunAside): string {
  const now = instead === undefined ? '' : t`; ${instead} does its work now`;
  return t`it was last touched on ${since}, and ${why}${now}`;
}

/** Whoever did its work, it did not reach its end. */
export function closing({ run_id, branch }: SetAside): Step {
  return {
    operation: 'run_finish',
    args: { run_id, ...(branch === 'main' ? {} : { branch }), status: 'abandoned' },
    why: t`Close it`,
  };
}

/** What can be done about a run that cannot be resumed. */
export function asideSteps(run: SetAside): Step[] {
  const name = run.aside?.instead;
  return [
    closing(run),
    name === undefined
      ? { operation: 'list', args: { what: 'workflows' }, why: t`List the workflows there are` }
      : {
          operation: 'execute',
          args: { name, kind: 'workflow' },
          why: t`Start again, with what is recorded above`,
        },
  ];
}
