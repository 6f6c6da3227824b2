import { BmadError } from '../base/errors.ts';
import { t } from '../base/text/message.ts';
import type { Called, Context, Observed } from '../operations/context.ts';
import { broughtBy, observedCall } from '../operations/observed.ts';
import type { ToldRefusal } from '../surfaces/http/refusals.ts';

/** The requests that the door has refused have no operation, and often nobody knows whose they are. */
const DOOR = 'door';
const NOBODY = { kind: 'unknown', name: '' };
/** What a token has used up is no fault of the server, and has a name of its own. */
const QUOTA = 'quota';

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
        outcome: seen.reason === QUOTA ? QUOTA : (seen.code ?? 'ok'),
        ms: seen.ms,
      });
    },
    ...(required ? { announce } : { announce: undefined }),
    refused(refusals: readonly ToldRefusal[]): void {
      for (const { reason: outcome, count, by, project } of refusals)
        void audit.note({
          operation: DOOR,
          by: by === undefined ? NOBODY : observedCall(DOOR, broughtBy(by)).by,
          ...(project === undefined ? {} : { project }),
          outcome,
          ms: 0,
          count,
        });
    },
    trouble: audit.trouble,
  };
}
