import type { VNode } from 'preact';
import type { Next as NextData, NextAction } from '../answers.ts';
import { useAnswer } from '../loading.ts';
import { HostChoice, PasteLine, usePrompts, type Start } from '../parts/hosts.tsx';
import { Phases } from '../parts/phases.tsx';
import { Empty, Group, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { Proofs } from '../parts/texts.tsx';
import { inLine } from '../parts/visible.ts';
import { address } from '../router.ts';
import { words } from '../words.ts';

/** What is called just for it. */
function startOf({ what, steps }: NextAction): Start | undefined {
  const step = steps.find(({ why }) => why === what);
  if (step === undefined) return undefined;
  const { operation, args = {} } = step;
  return operation === 'execute' ? args : { call: { name: operation, args } };
}

/** Where the project stands, by what its files prove, and what to do next. */
export function Next(): VNode {
  const loaded = useAnswer('next', { detail: 'full' }, ['progress', 'content', 'runs', 'receipts']);
  const { next } = words.value;
  const totals = loaded.data?.totals;
  return (
    <>
      <Heading
        title={next.title}
        lead={totals === undefined ? undefined : next.lead(totals.done, totals.stories)}
      >
        <HostChoice />
      </Heading>
      <Shown loaded={loaded}>{(data) => <Standing data={data} />}</Shown>
    </>
  );
}

function Standing({ data }: { data: NextData }): VNode {
  const { next } = words.value;
  const due = data.actions.filter(({ of }) => of !== 'new');
  const isBegun = data.phases.some(({ state }) => state !== 'not started');
  const ways = data.actions.filter(({ of }) => of === 'new');
  const documents = (data.items ?? []).filter(({ kind }) => kind !== 'story' && kind !== 'epic');
  return (
    <>
      <Phases next={data} />
      {data.verification === undefined ? null : (
        <p class={data.verification.verdict === 'PASS' ? 'good' : 'bad'}>
          {/* What it says is for a model that has to ask; who reads this can decide. */}
          {data.verification.contract === 'waits for a person' ? (
            <>
              {next[data.verification.verdict === 'outdated' ? 'outdated' : 'unproven'](
                inLine(data.verification.receipt ?? '', 60),
              )}{' '}
              <a href={address('inbox')}>{next.allow}</a>
            </>
          ) : (
            inLine(data.verification.says, 600)
          )}
        </p>
      )}
      <Group title={next.steps} count={due.length} />
      {due.length > 0 ? <Steps actions={due} /> : isBegun ? <Empty title={next.empty} /> : null}
      {ways.length === 0 ? null : (
        <>
          <Group title={next.ways} count={ways.length} />
          <Steps actions={ways} />
        </>
      )}
      <Contradictions data={data} />
      {documents.length === 0 ? null : (
        <section>
          <Group title={next.documents} count={documents.length} />
          <ul class="list rows">
            {documents.map(({ phase, kind, id, state, evidence }) => (
              <li key={`${phase} ${id}`} data-entry tabIndex={0}>
                <span>{inLine(id === kind ? kind : `${kind} ${id}`)}</span>
                <span class={state === 'complete' ? 'good' : 'soft'}>
                  {inLine(data.names[state] ?? state)}
                </span>
                <Proofs evidence={evidence} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <Unread items={unreadOf(data.troubles)} />
    </>
  );
}

function Steps({ actions }: { actions: readonly NextAction[] }): VNode {
  const { next } = words.value;
  const promptOf = usePrompts();
  return (
    <ol class="list">
      {actions.map((action) => {
        const start = startOf(action);
        return (
          <li class="item" key={action.what} data-entry tabIndex={0} aria-label={inLine(action.what)}>
            <span class={`dot ${action.optional ? 'soft' : 'info'}`} aria-hidden="true" />
            <div>
              <p class="what">
                {inLine(action.what)}{' '}
                {action.optional && action.of !== 'new' ? <small>{next.optional}</small> : null}
              </p>
              <p class="why">
                {inLine(action.why)}
                {action.says === undefined ? '' : `: "${inLine(action.says, 600)}"`}
                {action.noted === undefined ? '' : ` · ${next.noted} "${inLine(action.noted, 600)}"`}
                {action.use_for === undefined ? '' : ` · ${inLine(action.use_for)}`}
                {action.use === undefined ? '' : ` · ${inLine(action.use)}`}
                {action.agent === undefined ? '' : ` · ${inLine(action.agent)}`}
              </p>
              <Proofs evidence={action.evidence} />
              {start === undefined ? null : <PasteLine start={start} prompt={promptOf(start)} />}
            </div>
          </li>
        );
      })}
    </ol>
  );
}

function Contradictions({ data }: { data: NextData }): VNode {
  const { next } = words.value;
  const { drift } = data;
  return (
    <>
      {drift.length === 0 ? null : (
        <section>
          <Group title={next.drift} count={drift.length} />
          <ul class="list">
            {drift.map(({ kind, about, says, evidence }) => (
              <li class="item" key={`${kind} ${about}`} data-entry tabIndex={0}>
                <span class="dot bad" aria-hidden="true" />
                <div>
                  <p class="what">{inLine(says)}</p>
                  <Proofs evidence={evidence} />
                </div>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
