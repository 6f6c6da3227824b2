import type { VNode } from 'preact';
import { useId, useState } from 'preact/hooks';

import type { Failure } from '../answers.ts';
import { useAnswer } from '../loading.ts';
import { Empty, Group, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { inLine } from '../parts/visible.ts';
import { refine, route } from '../router.ts';
import { words } from '../words.ts';

const FIELDS = ['what_happened', 'root_cause', 'impact', 'lesson', 'fix', 'rule'] as const;

/** What went wrong before, and whether a plan is about to repeat it. */
export function Failures(): VNode {
  const loaded = useAnswer('get_failure_museum', { top_n: 100 }, ['failures', 'memory']);
  const { failures } = words.value;
  return (
    <>
      <Heading
        title={failures.title}
        lead={loaded.data === undefined ? undefined : failures.lead(loaded.data.total)}
      />
      <Check />
      <Shown loaded={loaded}>
        {(data) => (
          <>
            {data.rules.length === 0 ? null : (
              <section>
                <Group title={failures.rules} count={data.rules.length} />
                <ul class="list rows">
                  {data.rules.map(({ rule, from }) => (
                    <li key={`${rule} ${from}`}>
                      <span>{inLine(rule, 600)}</span>
                      <span class="proof">{inLine(from)}</span>
                    </li>
                  ))}
                </ul>
              </section>
            )}
            <Group title={failures.title} count={data.failures.length} />
            {data.failures.length === 0 ? (
              <Empty title={failures.empty} how={failures.emptyHow} />
            ) : (
              <ul class="list">
                {data.failures.map((failure) => (
                  <Entry key={failure.id} failure={failure} />
                ))}
              </ul>
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
  const { failures } = words.value;
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
        <b>{failures.check}</b> <span class="soft">{failures.checkHow}</span>
      </label>
      <textarea
        id={field}
        rows={2}
        maxLength={4000}
        data-search
        value={plan}
        onInput={(event) => setPlan(event.currentTarget.value)}
      />
      <button type="submit" class="go">
        {failures.run}
      </button>
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
          {data.warnings.length === 0 ? null : (
            <ul class="list">
              {data.warnings.map((failure) => (
                <Entry key={failure.id} failure={failure} />
              ))}
            </ul>
          )}
        </div>
      )}
    </Shown>
  );
}

function Entry({ failure }: { failure: Failure }): VNode {
  const { failures } = words.value;
  return (
    <li class="item" data-entry tabIndex={0} aria-label={inLine(failure.title)}>
      <span class={`dot ${failure.severity === 'critical' ? 'bad' : ''}`} aria-hidden="true" />
      <div>
        <p class="what">{inLine(failure.title)}</p>
        <p class="why">
          {[failure.category, failure.severity, failure.status, failure.date, failure.agents.join(', ')]
            .filter((each) => each !== undefined && each !== '' && each !== 'unknown')
            .map((each) => inLine(String(each)))
            .join(' · ')}
        </p>
        <dl class="fields">
          {FIELDS.flatMap((name) => {
            const text = failure[name];
            return text === undefined || text === '' ? [] : [{ name, text }];
          }).map(({ name, text }) => (
            <div key={name}>
              <dt>{failures.fields[name]}</dt>
              <dd>{inLine(text, 1000)}</dd>
            </div>
          ))}
        </dl>
        <p class="proof">{inLine(failure.source)}</p>
      </div>
    </li>
  );
}
