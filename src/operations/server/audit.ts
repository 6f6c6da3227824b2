import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { visible } from '../../base/text/hidden.ts';
import { plural, say, t } from '../../base/text/message.ts';
import { type AuditLine, auditLineSchema } from '../../model/client.ts';
import { textUpTo } from '../fields.ts';
import { defineOperation } from '../operation.ts';

const UNITS = { m: 60_000, h: 60 * 60_000, d: 24 * 60 * 60_000 };
const USUAL = '7d';
const SHOWN = 100;
const MOST = 10_000;

export const auditShow = defineOperation({
  name: 'audit_show',
  title: 'Show who has called what',
  description:
    'Calls of the HTTP servers that use this user’s state folder, or of all that use the database of the team: time, caller, operation, project, id and outcome, never arguments.',
  effect: 'read',
  command: 'audit',
  forPeople: true,
  examples: ['audit', 'audit --since 2h --outcome forbidden'],
  input: z.strictObject({
    since: z
      .string()
      .min(2)
      .max(40)
      .default(USUAL)
      .describe('Since when: 30m, 12h, 7d (default), or a date such as 2026-11-19'),
    caller: textUpTo(200).optional().describe('A name, the digits of a token, or a kind: oauth'),
    operation: textUpTo(100)
      .optional()
      .describe('An operation, such as task_approve; door: what the door has refused'),
    outcome: textUpTo(40).optional().describe('ok, or a code such as forbidden or wrong_token'),
    limit: z.int().min(1).max(MOST).default(SHOWN).describe('How many lines, the last ones'),
  }),
  output: z.object({
    folder: z.string(),
    since: z.string(),
    lines: z.array(auditLineSchema),
    more: z.int(),
    bad: z.int().describe('Lines that cannot be read'),
    alone: z.string().optional().describe('Why the calls of other machines are missing'),
  }),
  async run({ since, limit, ...wanted }, context, call) {
    // It says what everybody has done, on all projects: that is for whoever has let this person in by a link, not for a login.
    if (call.overHttp === true && call.caller?.startsWith('person ') !== true)
      throw new BmadError('forbidden', t`Who has called what is shown to people who came in by a link.`, {
        hint: t`Open the page with a link from the server’s machine, or look there.`,
        steps: [{ operation: 'audit_show', why: t`See it on the server’s machine` }],
      });
    const from = timeOf(since);
    const audit = await context.audit();
    const read = await audit.readAll({ ...wanted, since: from, limit });
    return { ...read, since: new Date(from).toISOString() };
  },
  render: ({ folder, since, lines, more, bad, alone }) => ({
    body: lines.length === 0 ? t`No call has been audited since ${since}.` : lines.map(lineOf).join('\n'),
    note: [
      ...(alone === undefined ? [] : [t`DEGRADED, only the calls of this machine are shown: ${say(alone)}`]),
      ...(more === 0 ? [] : [t`${plural(more, 'earlier line')} not shown; --limit shows more.`]),
      ...(bad === 0 ? [] : [t`${plural(bad, 'line')} cannot be read.`]),
      folder,
    ].join(' '),
  }),
});

function timeOf(since: string): number {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(since) ?? [];
  const at =
    unit === undefined ? Date.parse(since) : Date.now() - Number(count) * UNITS[unit as keyof typeof UNITS];
  if (Math.abs(at) <= 8.64e15) return at;
  throw new BmadError('invalid_input', t`${quoted(since)} is not a time.`, {
    hint: t`Use 30m, 12h or 7d, or a date such as 2026-11-19.`,
  });
}

/** Names may be anybody's, so what is hidden in them is shown. */
function lineOf({ at, machine = '', by, operation, project, target, outcome, ms, count }: AuditLine): string {
  const who = [by.kind, by.name, by.token === by.name ? '' : (by.token ?? ''), by.host ?? ''];
  const what = [operation, target ?? '', project ?? ''];
  const times = count === undefined ? `${Math.round(ms)} ms` : `× ${count}`;
  return visible(
    [at, machine, ...who, '|', ...what, '|', outcome, times]
      .filter((part) => part !== '')
      .map((part) => part.replaceAll(/\s+/g, ' '))
      .join(' '),
  );
}
