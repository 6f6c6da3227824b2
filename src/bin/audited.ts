import { BmadError } from '../base/errors.ts';
import { t } from '../base/text/message.ts';
import type { Called, Context, Observed } from '../operations/context.ts';
import type { Refusal } from '../surfaces/http/refusals.ts';

/** The requests that the door has refused have no operation and no caller. */
const DOOR = 'door';
const NOBODY = { kind: 'unknown', name: '' };

/**
 * Keeps who has called what: changes and refusals, and what only reads where that is asked for. A call that is answered is
 * in the audit, unless that could not be written.
 */
export async function auditOf({ audit: open, config }: Pick<Context, 'audit' | 'config'>) {
  const audit = await open();
  const [reads, required] = [config.audit.includes('all'), config.audit.includes('required')];
  const lineOf = ({ operation, meant = operation, by }: Called) => ({ operation: meant, by });

  async function announce(called: Called): Promise<void> {
    const error = await audit.note({ ...lineOf(called), outcome: 'begun', ms: 0 });
    if (error === undefined) return;
    throw new BmadError('unavailable', t`The call cannot be audited, so nothing was changed.`, {
      hint: t`The server’s operator requires it with the setting audit. The server’s log says why it cannot be written.`,
    });
  }

  return {
    async observe(seen: Observed): Promise<void> {
      if (!seen.writes && !reads && seen.code !== 'forbidden') return;
      const project = await seen.project?.();
      await audit.note({
        ...lineOf(seen),
        ...(project === undefined ? {} : { project }),
        ...(seen.target === undefined ? {} : { target: seen.target }),
        outcome: seen.code ?? 'ok',
        ms: seen.ms,
      });
    },
    ...(required ? { announce } : { announce: undefined }),
    refused(counts: ReadonlyMap<Refusal, number>): void {
      for (const [outcome, count] of counts)
        void audit.note({ operation: DOOR, by: NOBODY, outcome, ms: 0, count });
    },
    trouble: audit.trouble,
  };
}
