import type { VNode } from 'preact';
import type { Delivery } from '../answers.ts';
import { useAnswer } from '../loading.ts';
import { Actions } from '../parts/actions.tsx';
import { Empty, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { inLine } from '../parts/visible.ts';
import { address } from '../router.ts';
import { words } from '../words.ts';

/** Contracts between teams: what is handed over, whether it is complete, and the answer to it. */
export function Handover(): VNode {
  const loaded = useAnswer('delivery_list', {}, ['handover', 'progress']);
  const { handover } = words.value;
  return (
    <>
      <Heading
        title={handover.title}
        lead={loaded.data === undefined ? undefined : handover.lead(loaded.data.contracts.length)}
      />
      <Shown loaded={loaded}>
        {({ contracts, problems }) => (
          <>
            {contracts.length === 0 ? (
              <Empty title={handover.empty} how={handover.emptyHow} />
            ) : (
              <ul class="list">
                {contracts.map((contract) => (
                  <One key={contract.contract_id} contract={contract} onDone={loaded.reload} />
                ))}
              </ul>
            )}
            <Unread items={unreadOf(problems)} />
          </>
        )}
      </Shown>
    </>
  );
}

function One({ contract, onDone }: { contract: Delivery; onDone: () => void }): VNode {
  const { handover } = words.value;
  const { contract_id } = contract;
  const checked = useAnswer('delivery_validate', { contract_id }, ['handover', 'progress']);
  const waits = !['accepted', 'rejected'].includes(contract.status);
  const valid = checked.data?.valid;
  return (
    <li class="item" data-entry tabIndex={0} aria-label={inLine(contract_id)}>
      <span class={`dot ${waits ? '' : 'soft'}`} aria-hidden="true" />
      <div>
        <p class="what">
          {inLine(contract.from_team)} → {inLine(contract.to_team)}{' '}
          <small class="soft">{inLine(contract.status)}</small>
        </p>
        <p class="why">
          {inLine(contract.date ?? '')} {inLine(contract.signed_by ?? '')} ·{' '}
          {handover.artefacts(contract.artefacts)} · {handover.questions(contract.open_questions)}
          {valid === undefined ? null : (
            <span class={valid ? 'good' : 'bad'}> · {valid ? handover.complete : handover.incomplete}</span>
          )}
        </p>
        <p class="proof">{inLine(contract.file)}</p>
        <ul class="reasons">
          {(checked.data?.findings ?? []).map(({ message, level, line }) => (
            <li key={message} class={level === 'error' ? 'bad' : 'soft'}>
              {inLine(message, 600)}
              {line === undefined ? '' : ` (${line})`}
            </li>
          ))}
        </ul>
      </div>
      {/* Who accepts it has to see its text, which is there. */}
      {waits ? <a href={address('inbox')}>{handover.read}</a> : null}
      <Actions
        about={inLine(contract_id)}
        onDone={onDone}
        actions={
          waits
            ? [{ label: handover.reject, operation: 'delivery_reject', args: { contract_id }, danger: true }]
            : []
        }
      />
    </li>
  );
}
