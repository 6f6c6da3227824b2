import type { VNode } from 'preact';
import type { Answers } from '../answers.ts';
import { useAnswer, useNames } from '../loading.ts';
import { dayName, labelled, plural, t } from '../message.ts';
import { Empty, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { Reasons } from '../parts/texts.tsx';
import { dotted, inLine } from '../parts/wording.ts';
import { Fold } from '../parts/work.tsx';
import { address } from '../router.ts';
import { stateOf } from '../words.ts';

/** Contracts between teams: what is handed over, whether it is complete, and the answer to it. */
export function Handover(): VNode {
  const loaded = useAnswer('delivery_list', {}, ['handover', 'progress']);
  return (
    <>
      <Heading title={t`Handover`} />
      <Shown loaded={loaded}>
        {({ contracts, problems }) => (
          <>
            {contracts.length === 0 ? (
              <Empty
                title={t`No delivery contract yet.`}
                how={t`One is made when a team hands its work over to another.`}
              />
            ) : (
              <ul class="log">
                {contracts.toReversed().map((contract) => (
                  <One key={contract.contract_id} contract={contract} />
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

/** What is decided on has its text, and its answers, in the inbox; here is what became of each. */
function One({ contract }: { contract: Answers['delivery_list']['contracts'][number] }): VNode {
  const { contract_id, status, from_team, to_team, date, signed_by: signed } = contract;
  const nameOf = useNames();
  const waits = !['accepted', 'rejected'].includes(status);
  const checked = useAnswer('delivery_validate', waits ? { contract_id } : undefined, [
    'handover',
    'progress',
  ]);
  const valid = checked.data?.valid;
  return (
    <li data-entry tabIndex={0} aria-label={inLine(contract_id)}>
      <p>
        {inLine(from_team, 80)} → {inLine(to_team, 80)}{' '}
        <small class="soft">{date === '' ? '' : dayName(date)}</small>
      </p>
      <small class="soft">
        {dotted(
          stateOf(status),
          signed === '' ? '' : t`signed by ${inLine(signed, 60)}`,
          plural(contract.artefacts, 'artefact'),
          contract.open_questions === 0 ? '' : plural(contract.open_questions, 'open question'),
        )}
        {valid === undefined ? null : (
          <span class={valid ? 'good' : 'bad'}> · {valid ? t`has everything` : t`not complete`}</span>
        )}
        {waits ? (
          <>
            {' '}
            ·{' '}
            <a
              href={address('inbox', [], { entry: `contract ${contract_id}` })}
            >{t`Read and answer it in the inbox`}</a>
          </>
        ) : null}
      </small>
      {contract.reason === undefined ? null : (
        <p class="why">
          {labelled(inLine(nameOf(contract.answered_by), 60), `“${inLine(contract.reason, 2000)}”`)}
        </p>
      )}
      <Fold title={t`Details`}>
        <Reasons
          items={[
            contract.file,
            ...(checked.data?.findings ?? []).map(({ message, line }) => dotted(message, line?.toString())),
          ]}
        />
      </Fold>
    </li>
  );
}
