import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Answers, Receipt } from '../answers.ts';
import { useAnswer, useNext } from '../loading.ts';
import { Actions } from '../parts/actions.tsx';
import { Empty, Group, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { AllowFirst, Exact, Reasons, RepairRequest } from '../parts/texts.tsx';
import { dotted, inLine } from '../parts/wording.ts';
import { Fold } from '../parts/work.tsx';
import { age, moment, number, plural, t } from '../message.ts';
import { stateOf, words } from '../words.ts';

const TONES: Readonly<Record<string, string>> = { PASS: 'p', FAIL: 'f' };
const LINES = 24;

/** Whether the project does what it should: the last verdict, what fails, and the way to a new one. */
export function Proof(): VNode {
  const receipts = useAnswer('list_receipts', { limit: 60 }, ['receipts']);
  const verified = useAnswer('verify_receipts', {}, ['receipts', 'progress']);
  const reload = (): void => {
    receipts.reload();
    verified.reload();
  };
  return (
    <>
      <Heading title={t`Proof`} />
      <Shown loaded={verified}>{(data) => <Verdict data={data} onDone={reload} />}</Shown>
      <Shown loaded={receipts}>
        {({ items, problems }) => (
          <>
            {items.length === 0 ? null : <History items={items} />}
            <Unread items={unreadOf(problems)} />
          </>
        )}
      </Shown>
    </>
  );
}

function Verdict({ data, onDone }: { data: Answers['verify_receipts']; onDone: () => void }): VNode {
  const { newest, last_pass: last, proven, changes_total: changed, changes, notes } = data;
  const shown = useAnswer('receipt_show', newest === undefined ? undefined : { id: newest.id }, ['receipts']);
  const next = useNext();
  const waits = next.data?.verification?.contract === 'waits for a person';
  const isKnown = (next.data ?? next.problem) !== undefined;
  const failed = (shown.data?.steps ?? [])
    .filter(({ ok }) => ok === false)
    .map(({ command }) => inLine(command, 120));
  const fails = newest !== undefined && newest.status !== 'PASS';
  const what = failed.length === 0 ? inLine(newest?.reason ?? '', 200) : failed.join(', ');
  const run = { label: newest ? t`Run again` : t`Run it`, operation: 'run_completion_contract', args: {} };
  const again = (
    <Actions about={t`Proof`} actions={isKnown && !waits ? [run] : []} onDone={onDone}>
      {waits ? <AllowFirst /> : null}
      {fails ? <RepairRequest what={what} /> : null}
    </Actions>
  );
  if (newest === undefined)
    return (
      <>
        <Empty title={t`No contract has been run yet.`} how={t`A receipt is written each time it runs.`} />
        {again}
      </>
    );
  return (
    <section aria-label={t`The last verdict`}>
      <div class="verdict">
        <i class={`big ${proven ? 'good' : 'bad'}`} aria-hidden="true" />
        <div>
          <h2>
            {proven
              ? t`Proven: the project is unchanged since it passed.`
              : fails
                ? t`Not proven: ${what} failed ${age(newest.started)}.`
                : t`Not proven any more: files have changed since it passed.`}
          </h2>
          <p class="soft">
            {last === undefined ? t`It has never passed.` : t`It last passed ${age(last.started)}.`}{' '}
            {changed === 0 ? '' : t`Since then ${plural(changed, 'file has changed', 'files have changed')}.`}
          </p>
        </div>
      </div>
      {again}
      {fails ? <Shown loaded={shown}>{(found) => <Failing shown={found} />}</Shown> : null}
      {changed === 0 ? null : (
        <Fold title={plural(changed, 'changed file')}>
          <Reasons items={changes.map(({ path, change }) => `${stateOf(change)} ${path}`)} />
        </Fold>
      )}
      <Fold title={words.value.chain[data.chain]}>
        <Reasons items={[...notes, dotted(newest.id, newest.hash, data.place)]} />
      </Fold>
      <Unread items={unreadOf(data.problems)} />
    </section>
  );
}

/** What fails, in the words of the programs that say so; all of the output is one click away. */
function Failing({ shown }: { shown: Answers['receipt_show'] }): VNode {
  const { failures = '', output = '', output_lines: lines = 0 } = shown;
  if (failures === '' && output === '') return <p class="soft">{t`Its output is not kept any more.`}</p>;
  return (
    <>
      <Exact text={failures === '' ? output : failures} label={t`What fails`} lines={LINES} />
      {failures === '' ? null : (
        <Fold title={t`The end of the output (${plural(lines, 'line')} in all)`}>
          <Exact text={output} />
        </Fold>
      )}
    </>
  );
}

/** Verdicts beside each other, the newest at the right; the one that is chosen is told. */
function History({ items }: { items: readonly Receipt[] }): VNode {
  const [at, setAt] = useState(0);
  const chosen = items[at] ?? items[0];
  const said = ({ status, started, duration_ms: ms, id }: Receipt): string =>
    [stateOf(status), moment(started), t`${number(Math.round(ms / 100) / 10)} s`, id].join(' · ');
  return (
    <section>
      <Group title={t`Verdicts`} count={items.length} />
      <div class="strip" role="group" aria-label={t`Verdicts`}>
        {items
          .map((item, index) => (
            <button
              type="button"
              key={item.id}
              class={TONES[item.status] ?? 'z'}
              aria-label={said(item)}
              aria-pressed={index === at}
              onClick={() => setAt(index)}
            />
          ))
          .toReversed()}
      </div>
      {chosen === undefined ? null : (
        <p class="soft">
          {said(chosen)} · {inLine(chosen.reason, 200)}
          {chosen.written_here === false ? <span class="bad"> · {t`written elsewhere`}</span> : null}
        </p>
      )}
    </section>
  );
}
