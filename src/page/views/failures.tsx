import { dayName, t } from '../message.ts';
import type { VNode } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Failure } from '../answers.ts';
import { useAnswer, useNames } from '../loading.ts';
import { Empty, Group, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { dotted, inLine } from '../parts/wording.ts';
import { refine, route } from '../router.ts';
import { stateOf, words } from '../words.ts';

const FIELDS = ['what_happened', 'root_cause', 'impact', 'lesson', 'fix', 'rule'] as const;

const isKnown = (word: string | undefined): boolean => word?.toLowerCase() !== 'unknown';

/** What went wrong before, and whether a plan is about to repeat it. */
export function Failures(): VNode {
  const loaded = useAnswer('get_failure_museum', { top_n: 100 }, ['failures', 'memory']);
  return (
    <>
      <Heading title={t`Failures`} />
      <Shown loaded={loaded}>
        {(data) => (
          <>
            {data.rules.length === 0 ? null : (
              <section>
                <Group title={t`Rules`} count={data.rules.length} />
                <ul class="log">
                  {data.rules.map(({ rule, from }) => (
                    <li key={`${rule} ${from}`} title={inLine(from)}>
                      {inLine(rule, 600)}
                    </li>
                  ))}
                </ul>
              </section>
            )}
            {data.failures.length === 0 ? null : <Check />}
            <Group title={t`Failures`} count={data.failures.length} />
            {data.failures.length === 0 ? (
              <Empty
                title={t`The museum is empty.`}
                how={t`Agents log what went wrong, so that it does not happen twice.`}
              />
            ) : (
              <Entries of={data.failures} />
            )}
            <Unread items={unreadOf(data.notes)} />
          </>
        )}
      </Shown>
    </>
  );
}

/** The plan is part of the address, so that its check can be shared. */
function Check(): VNode {
  const asked = route.value.query.get('plan') ?? '';
  const [plan, setPlan] = useState(asked);
  const field = useId();
  return (
    <form
      class="panel"
      onSubmit={(event) => {
        event.preventDefault();
        refine({ plan: plan.trim() });
      }}
    >
      <label for={field}>
        <b>{t`Check this plan`}</b> <span class="soft">{t`The change you plan, in a few words`}</span>
      </label>
      <div class="one-line">
        <input
          id={field}
          maxLength={4000}
          value={plan}
          onInput={(event) => setPlan(event.currentTarget.value)}
        />
        <button type="submit">{t`Check`}</button>
      </div>
      {asked === '' ? null : <Checked plan={asked} />}
    </form>
  );
}

function Checked({ plan }: { plan: string }): VNode {
  const { failures } = words.value;
  const loaded = useAnswer('check_failures', { change: plan }, ['failures', 'memory']);
  return (
    <Shown loaded={loaded}>
      {(data) => (
        <div role="status">
          <p class="soft">{failures.compared(data.compared, data.warnings.length)}</p>
          {data.warnings.length === 0 ? null : <Entries of={data.warnings} />}
        </div>
      )}
    </Shown>
  );
}

const Entries = ({ of }: { of: readonly Failure[] }): VNode => (
  <ul class="list">
    {of.map((failure) => (
      <Entry key={failure.id} failure={failure} />
    ))}
  </ul>
);

function Entry({ failure }: { failure: Failure }): VNode {
  const { failures } = words.value;
  const nameOf = useNames();
  const { category, severity, status, date } = failure;
  return (
    <li class="item" data-entry tabIndex={0} aria-label={inLine(failure.title)}>
      <span class={`dot ${failure.severity === 'critical' ? 'bad' : ''}`} aria-hidden="true" />
      <div>
        <p class="what">{inLine(failure.title)}</p>
        <p class="why">
          {inLine(
            dotted(
              ...[category, stateOf(severity), stateOf(status), date && dayName(date)].filter(isKnown),
              failure.agents.map(nameOf).join(', '),
            ),
          )}
        </p>
        <dl class="fields">
          {FIELDS.filter((name) => (failure[name] ?? '') !== '').map((name) => (
            <div key={name}>
              <dt>{failures.fields[name]}</dt>
              <dd>{inLine(failure[name] ?? '', 1000)}</dd>
            </div>
          ))}
        </dl>
        {failure.source === 'memory' ? null : <p class="proof">{inLine(failure.source)}</p>}
      </div>
    </li>
  );
}
