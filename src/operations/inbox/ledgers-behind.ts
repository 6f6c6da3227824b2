import { plural, t } from '../../base/text/message.ts';
import type { ProjectState } from '../context.ts';
import { action, type InboxItem } from './inbox-item.ts';

/** What the project disagrees with itself about can be hundreds of places; the first say enough. */
const MOST_DRIFT = 50;

/** Ledgers that say less than the files prove, that cannot be read, or that only a person can put right. */
export async function ledgersBehind(
  state: ProjectState,
): Promise<{ items: InboxItem[]; unread: { what: string; why: string }[] }> {
  const { proposal, ledgers, report } = await (await state.progress()).reconcile({ apply: false });
  const changes = ledgers.flatMap((ledger) =>
    ledger.changes.map((change) => ({ ...change, file: ledger.file })),
  );
  const proposed = new Set(changes.map(({ key }) => key));
  const items: InboxItem[] = [];
  if (changes.length > 0)
    items.push({
      id: `ledgers ${proposal}`,
      kind: 'ledger',
      role: 'scrum master',
      title: t`The ledgers lack ${plural(changes.length, 'change')} that the files prove`,
      evidence: changes.map(({ file, line, key, from, to, why }) => ({
        file,
        line,
        says: t`${key}: ${from ?? t`no row`} → ${to} (${why})`,
      })),
      text: ledgers.map(({ diff }) => diff).join('\n'),
      actions: [action(t`Make these changes`, 'reconcile_ledgers', { apply: true, proposal })],
    });
  const left = report.drift.filter(({ kind, about }) => kind !== 'broken ledger' && !proposed.has(about));
  for (const { kind, about, says, evidence } of left.slice(0, MOST_DRIFT))
    items.push({
      id: `drift ${kind} ${about}`,
      kind: 'ledger',
      role: 'scrum master',
      title: says,
      evidence,
      text: says,
      actions: [],
    });
  const hidden = left.length - MOST_DRIFT;
  return {
    items,
    unread: [
      ...report.broken.map(({ file, line, says }) => ({
        what: line === undefined ? file : `${file}:${line}`,
        why: says,
      })),
      ...report.troubles.map(({ file, line, message }) => ({
        what: line === undefined ? file : `${file}:${line}`,
        why: message,
      })),
      ...(hidden > 0 ? [{ what: t`ledgers`, why: t`${hidden} more places disagree` }] : []),
    ],
  };
}
