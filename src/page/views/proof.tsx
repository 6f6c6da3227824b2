import type { VNode } from 'preact';
import type { Receipt, Verified } from '../answers.ts';
import { useAnswer } from '../loading.ts';
import { Bars, type Point } from '../parts/chart.tsx';
import { Empty, Group, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { inLine } from '../parts/visible.ts';
import { day, moment } from '../message.ts';
import { words } from '../words.ts';

const TONES: Readonly<Record<string, 'good' | 'bad' | 'soft'>> = { PASS: 'good', FAIL: 'bad' };

const seconds = (ms: number): number => Math.round(ms / 100) / 10;

/** What the completion contract has said, when, and whether it still holds. */
export function Proof(): VNode {
  const receipts = useAnswer('list_receipts', { limit: 200 }, ['receipts']);
  const verified = useAnswer('verify_receipts', {}, ['receipts', 'progress']);
  const { proof } = words.value;
  return (
    <>
      <Heading
        title={proof.title}
        lead={verified.data === undefined ? undefined : verified.data.proven ? proof.proven : proof.notProven}
      />
      <Shown loaded={verified}>{(data) => <Standing data={data} />}</Shown>
      <Shown loaded={receipts}>
        {({ items, problems }) => (
          <>
            {items.length === 0 ? (
              <Empty title={proof.empty} how={proof.emptyHow} />
            ) : (
              <>
                <Group title={proof.overTime} count={items.length} />
                <Bars title={proof.overTime} points={items.toReversed().map(pointOf)} />
                <Table items={items} />
              </>
            )}
            <Unread items={unreadOf(problems)} />
          </>
        )}
      </Shown>
    </>
  );
}

function pointOf({ status, started, duration_ms: ms }: Receipt): Point {
  return { label: day(started), note: `${status}, s`, value: seconds(ms), tone: TONES[status] ?? 'soft' };
}

function Standing({ data }: { data: Verified }): VNode | null {
  const { proof } = words.value;
  if (data.receipts === 0) return null;
  return (
    <div class="panel">
      <p class={data.proven ? 'good' : 'bad'}>{data.proven ? proof.proven : proof.notProven}</p>
      <p class="why">
        {proof.chain}: {inLine(data.chain)} · {proof.lastPass}:{' '}
        {data.last_pass === undefined
          ? '–'
          : `${inLine(data.last_pass.id)}, ${moment(data.last_pass.started)}`}
      </p>
      {data.notes.map((note) => (
        <p class="why" key={note}>
          {inLine(note, 600)}
        </p>
      ))}
      {data.changes_total === 0 ? null : (
        <details>
          <summary>{proof.changes(data.changes_total)}</summary>
          <ul class="reasons">
            {data.changes.map(({ path, change }) => (
              <li key={path}>
                <span class="proof">
                  {inLine(change)} {inLine(path)}
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
      <Unread items={unreadOf(data.problems)} />
    </div>
  );
}

function Table({ items }: { items: readonly Receipt[] }): VNode {
  const { proof } = words.value;
  const { columns } = proof;
  return (
    <div class="wide" role="group" aria-label={proof.title} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {Object.entries(columns).map(([name, says]) => (
              <th key={name} scope="col">
                {says}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((receipt) => (
            <tr key={receipt.id}>
              <td class="mono">{inLine(receipt.id)}</td>
              <td class={TONES[receipt.status] ?? 'soft'}>{inLine(receipt.status)}</td>
              <td>{moment(receipt.started)}</td>
              <td>{seconds(receipt.duration_ms)}&nbsp;s</td>
              <td>
                <span class="mono">{inLine(receipt.contract.path ?? receipt.contract.kind)}</span>{' '}
                {inLine(receipt.stacks.join(', '))}
                <br />
                <span class="soft">{inLine(receipt.reason)}</span>
                {receipt.written_here === false ? <span class="bad"> {proof.elsewhere}</span> : null}
              </td>
              <td class="mono" title={inLine(receipt.hash)}>
                {inLine(receipt.commit?.slice(0, 10) ?? '–')}
                {receipt.dirty === true ? '+' : ''}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
