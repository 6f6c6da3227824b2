import { t } from '../../../base/text/message.ts';
import type { ReceiptData } from '../../../operations/completion/receipt-view.ts';
import type { SourceData } from '../../../operations/git-sources/sources-view.ts';
import type { HandoverView } from '../../../operations/handover/handover-view.ts';
import { line, span, stacked } from '../screen/lines.ts';
import { listing, MARKS, problemLines, short, state, when, type Draw } from './parts.ts';

interface Receipts {
  items: readonly ReceiptData[];
  problems: readonly { message: string }[];
  notes: readonly string[];
}

export const receiptsScreen: Draw<Receipts> = ({ items, problems, notes }, page) =>
  items.length === 0
    ? undefined
    : stacked(
        listing(
          [
            { title: '' },
            { title: 'receipt' },
            { title: 'verdict' },
            { title: t`what was verified`, flexible: true },
            { title: 'commit', drop: 1 },
            { title: 'took', end: true, drop: 2 },
            { title: 'when' },
          ],
          items.map((receipt) => ({
            cells: [
              line(
                receipt.status === 'PASS' ? MARKS.good : receipt.status === 'FAIL' ? MARKS.bad : MARKS.warn,
              ),
              line(span(receipt.id, 'name')),
              line(state(receipt.status)),
              line(
                `${receipt.stacks.join(', ')}${receipt.working_dir === '.' ? '' : ` ${t`in ${receipt.working_dir}`}`}`,
                span(receipt.written_here === false ? ` ${t`(not written here)`}` : '', 'warn'),
              ),
              line(
                `${receipt.commit?.slice(0, 10) ?? ''}${receipt.dirty === true ? ` ${t`with changes`}` : ''}`,
              ),
              line(`${(receipt.duration_ms / 1_000).toFixed(1)} s`),
              when(receipt.started, page),
            ],
          })),
          page,
        ),
        problemLines(
          problems.map(({ message }) => message),
          page,
        ),
        problemLines(notes, page, MARKS.warn),
      );

export const sourcesScreen: Draw<{
  sources: readonly SourceData[];
  copies?: unknown;
  warnings: readonly string[];
}> = ({ sources, copies, warnings }, page) =>
  sources.length === 0 || copies !== undefined
    ? undefined
    : stacked(
        listing(
          [
            { title: 'state' },
            { title: 'source', flexible: true },
            { title: 'commit' },
            { title: 'files', end: true, drop: 2 },
            { title: 'asked', drop: 1 },
          ],
          sources.map((source) => ({
            cells: [
              line(state(source.state)),
              line(span(source.source, 'name')),
              line(
                source.commit?.slice(0, 10) ?? '',
                span(source.pending === undefined ? '' : ` → ${source.pending.commit.slice(0, 10)}`, 'warn'),
              ),
              line(source.files === undefined ? '' : String(source.files)),
              when(source.checkedAt, page),
            ],
            below: source.trouble === undefined ? undefined : line(span(short(source.trouble), 'bad')),
          })),
          page,
        ),
        problemLines(
          sources.flatMap(({ source, skipped }) => skipped.map((each) => t`${source}: ${each}`)),
          page,
          MARKS.warn,
        ),
        problemLines(warnings, page, MARKS.warn),
      );

export const deliveriesScreen: Draw<{ contracts: readonly HandoverView[]; problems: readonly string[] }> = (
  { contracts, problems },
  page,
) =>
  contracts.length === 0
    ? undefined
    : stacked(
        listing(
          [
            { title: 'contract' },
            { title: 'status' },
            { title: t`from → to`, flexible: true },
            { title: 'date', drop: 1 },
            { title: 'questions', end: true, drop: 2 },
          ],
          contracts.map((each) => ({
            cells: [
              line(span(each.contract_id, 'name')),
              line(state(each.status)),
              line(`${each.from_team} → ${each.to_team}`),
              line(each.date),
              line(String(each.open_questions)),
            ],
          })),
          page,
        ),
        problemLines(problems, page),
      );
