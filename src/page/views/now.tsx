import type { VNode } from 'preact';
import type { Next, NextAction } from '../answers.ts';
import { openHosts, session } from '../live.ts';
import { useActivity, useNext } from '../loading.ts';
import { age, labelled, plural, span, t } from '../message.ts';
import { AllLines, HostChoice, isCall, PasteLine, usePrompts } from '../parts/hosts.tsx';
import { Empty, Group, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { Proofs } from '../parts/texts.tsx';
import { inLine, placeText } from '../parts/wording.ts';
import { Fold, Stream, WorkList } from '../parts/work.tsx';
import { address } from '../router.ts';

/** Who works on what, what has happened today, and what comes next. */
export function Now(): VNode {
  const loaded = useNext();
  return (
    <>
      <Heading title={t`Now`} />
      <Shown loaded={loaded}>
        {(data) => (
          <>
            <Phases next={data} />
            <div class="two">
              <div>
                <Steps data={data} />
                <AtWork />
                <Hosts />
                <Unread items={unreadOf(data.troubles)} />
              </div>
              <Today />
            </div>
          </>
        )}
      </Shown>
    </>
  );
}

/** The most pressing step large, with one thing to copy; the others below it. */
function Steps({ data }: { data: Next }): VNode {
  const isBegun = data.phases.some(({ state }) => state !== 'not started');
  const due = data.actions.filter(({ of }) => of !== 'new');
  const ways = data.actions.filter(({ of }) => of === 'new');
  const [first, ...others] = due.length > 0 ? due : isBegun ? [] : ways;
  const rest = [...others, ...(due.length > 0 ? ways : [])];
  const needed = others.filter(({ optional }) => !optional).length;
  return (
    <>
      {first === undefined ? (
        <Empty title={t`Nothing is left to do: everything planned is done.`} />
      ) : (
        <Hero action={first} />
      )}
      <Verification data={data} />
      {rest.length === 0 ? null : (
        <Fold title={thenWords(needed, rest.length - needed)}>
          <ul class="list">
            {rest.map((action) => (
              <Step key={action.what} action={action} />
            ))}
          </ul>
        </Fold>
      )}
    </>
  );
}

function thenWords(needed: number, optional: number): string {
  if (optional === 0) return t`Then: ${plural(needed, 'step')}`;
  if (needed === 0) return t`Then: ${plural(optional, 'optional step')}`;
  return t`Then: ${plural(needed, 'step')}, and ${plural(optional, 'optional one')}`;
}

function whyOf({ why, says, noted, use_for, use, agent }: NextAction): string {
  const told = [
    says === undefined ? inLine(why) : labelled(inLine(why), `“${inLine(says, 600)}”`),
    noted === undefined ? '' : `${t`noted by the last session:`} “${inLine(noted, 600)}”`,
    ...[use_for, use, agent].map((each) => (each === undefined ? '' : inLine(each))),
  ];
  return told.filter(Boolean).join(' · ');
}

function Hero({ action }: { action: NextAction }): VNode {
  const promptOf = usePrompts();
  const [start] = action.steps;
  const isLedger = action.steps.some(({ operation }) => operation === 'reconcile_ledgers');
  return (
    <section class="hero" aria-label={t`Next step`} data-next>
      <p class="soft">{t`Next step`}</p>
      <h2>{inLine(action.what)}</h2>
      <p class="soft">{whyOf(action)}</p>
      <Proofs evidence={action.evidence.slice(0, 2)} />
      {start === undefined ? null : (
        <>
          <PasteLine start={start} prompt={promptOf(start)} main bare={isCall(start)} />
          {isLedger ? (
            <a href={address('board')}>{t`Or write it here: the board shows the change first`}</a>
          ) : null}
          <Fold title={t`For another host`}>
            <HostChoice />
            <AllLines start={start} prompt={promptOf(start)} />
          </Fold>
        </>
      )}
    </section>
  );
}

function Step({ action }: { action: NextAction }): VNode {
  const promptOf = usePrompts();
  const [start] = action.steps;
  return (
    <li class="item" data-entry tabIndex={0} aria-label={inLine(action.what)}>
      <span class={`dot ${action.optional ? 'soft' : 'info'}`} aria-hidden="true" />
      <div>
        <p class="what">
          {inLine(action.what)} {action.optional && action.of !== 'new' ? <small>{t`optional`}</small> : null}
        </p>
        <p class="why">{whyOf(action)}</p>
        {start === undefined ? null : <PasteLine start={start} prompt={promptOf(start)} />}
      </div>
    </li>
  );
}

/** What it says is for a model that has to ask; who reads this can decide. */
function Verification({ data: { verification } }: { data: Next }): VNode | null {
  if (verification === undefined || verification.verdict === 'PASS') return null;
  const waits = verification.contract === 'waits for a person';
  const receipt = inLine(verification.receipt ?? '', 60);
  return (
    <p class="bad">
      {verification.verdict === 'outdated'
        ? t`What was proven has changed since (${receipt}).`
        : receipt === ''
          ? t`Nothing has been verified yet.`
          : t`The last verification did not pass (${receipt}).`}{' '}
      <a href={address(waits ? 'inbox' : 'proof')}>
        {waits ? t`Allow the completion contract in the inbox` : t`What fails`}
      </a>
    </p>
  );
}

function AtWork(): VNode {
  const loaded = useActivity();
  return (
    <Shown loaded={loaded}>
      {({ work, unread }) => {
        const going = work.filter(({ now }) => now);
        const waiting = work.filter(({ now }) => !now);
        return (
          <>
            <Group title={t`At work`} count={going.length} />
            {going.length === 0 ? <p class="soft">{t`No one is at work.`}</p> : <WorkList work={going} />}
            {waiting.length === 0 ? null : (
              <>
                <Group title={t`Waiting`} count={waiting.length} />
                <WorkList work={waiting} />
              </>
            )}
            <p class="links">
              <a href={address('now', ['tasks'])}>{t`All tasks and their results`}</a>
              <a href={address('now', ['runs'])}>{t`All runs`}</a>
            </p>
            <Unread items={unreadOf(unread)} />
          </>
        );
      }}
    </Shown>
  );
}

/** The hosts that have this project open, and who has called the server over HTTP. */
function Hosts(): VNode | null {
  const hosts = [
    ...openHosts().map(({ client = '', started }) => ({ name: client, when: t`for ${span(started)}` })),
    ...(session.value?.clients ?? []).map(({ name, last }) => ({ name, when: age(last) })),
  ];
  if (hosts.length === 0) return null;
  return (
    <>
      <Group title={t`Connected hosts`} count={hosts.length} />
      <ul class="hosts">
        {hosts.map(({ name, when }, index) => (
          <li key={`${index} ${name}`}>
            {inLine(name === '' ? t`without a name` : name, 60)} <small>{when}</small>
          </li>
        ))}
      </ul>
    </>
  );
}

function Today(): VNode {
  const { data } = useActivity();
  const events = data?.events ?? [];
  return (
    <aside aria-labelledby="today">
      <h3 id="today">{t`Today`}</h3>
      {events.length === 0 ? (
        <p class="soft">{t`Nothing has happened today.`}</p>
      ) : (
        <Stream events={events} />
      )}
    </aside>
  );
}

/** How far the project is, in one line; what proves it is said where one points at it. */
function Phases({ next: { phases } }: { next: Next }): VNode | null {
  if (phases.length === 0) return null;
  return (
    <ol class="phases" aria-label={t`Phases`}>
      {phases.map(({ phase, name, word, state, unmarked, stories, share, evidence: [proof] }) => (
        <li key={phase} title={proof === undefined ? '' : inLine(`${placeText(proof)} ${proof.says}`)}>
          <i aria-hidden="true">
            <i style={{ width: `${Math.round((share.done / share.total) * 100)}%` }} />
          </i>
          <b>{inLine(name)}</b> {inLine(stories ?? (state === 'complete' && unmarked !== true ? '✓' : word))}
        </li>
      ))}
    </ol>
  );
}
