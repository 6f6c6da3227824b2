import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Answers, Doctor, Receipt } from '../answers.ts';
import { enter, session } from '../live.ts';
import { useAnswer } from '../loading.ts';
import { Group, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { Reasons } from '../parts/texts.tsx';
import { dotted, inLine } from '../parts/visible.ts';
import { Fold } from '../parts/work.tsx';
import { address } from '../router.ts';
import { age, labelled, moment, plural, t } from '../message.ts';
import { Hosts } from './health-hosts.tsx';
import { Usage } from './health-usage.tsx';

/** Whether everything works: what is to be repaired first, then what is in order, folded. */
export function Health(): VNode {
  const loaded = useAnswer('doctor', {}, ['content', 'sources']);
  const hosts = useAnswer('hosts_show', {}, []);
  const [newest] = useAnswer('list_receipts', { limit: 1 }, ['receipts']).data?.items ?? [];
  // Who runs and who is connected may be others than when the page was opened.
  useEffect(() => void enter(), []);
  const broken = repairsOf(loaded.data, hosts.data, newest);
  return (
    <>
      <Heading
        title={t`Health`}
        lead={
          broken.length > 0
            ? t`${plural(broken.length, 'thing')} to repair.`
            : loaded.data && (loaded.data.ok ? t`This project is in order.` : t`Something is broken.`)
        }
      />
      {broken.length === 0 ? null : (
        <section>
          <Group title={t`To repair`} count={broken.length} />
          <ul class="list">
            {broken.map(({ what, why, to }) => (
              <li class="item" key={`${what} ${why}`} data-entry tabIndex={0}>
                <span class="dot bad" aria-hidden="true" />
                <div>
                  <p class="what">{inLine(what)}</p>
                  <p class="why">{inLine(why, 600)}</p>
                </div>
                {to === undefined ? null : <a href={to}>{t`Look`}</a>}
              </li>
            ))}
          </ul>
        </section>
      )}
      <Shown loaded={loaded}>{(found) => <HealthReport doctor={found} />}</Shown>
      <Hosts loaded={hosts} />
      <Instances />
      <Usage />
      <Store />
    </>
  );
}

interface Repair {
  what: string;
  why: string;
  to?: string;
}

/** Everything that is red, wherever it is said. */
function repairsOf(
  doctor: Doctor | undefined,
  hosts: Answers['hosts_show'] | undefined,
  newest: Receipt | undefined,
): Repair[] {
  return [
    ...(newest?.status === 'FAIL'
      ? [{ what: t`The completion contract fails`, why: newest.reason, to: address('proof') }]
      : []),
    ...(doctor?.problems.length === 0 ? [] : unreadOf(doctor?.problems)).map(({ what, why }) => ({
      what: what === '' ? t`Health` : what,
      why,
    })),
    ...(hosts?.hosts ?? []).flatMap(({ name, checks }) =>
      checks.filter(({ level }) => level === 'broken').map(({ text }) => ({ what: name, why: text })),
    ),
  ];
}

function HealthReport({ doctor }: { doctor: Doctor }): VNode {
  const { allowed, programs = [] } = doctor.safety ?? {};
  const notices = [
    ...doctor.findings.map(({ about, text }) => ({ what: about, why: text })),
    ...unreadOf(doctor.warnings),
  ];
  return (
    <>
      {notices.length === 0 ? null : (
        <section>
          <Group title={t`Findings`} count={notices.length} />
          <ul class="log">
            {notices.map(({ what, why }) => (
              <li key={`${what} ${why}`} data-entry tabIndex={0}>
                <p>{inLine(why, 600)}</p>
                <small class="soft">{inLine(what)}</small>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Fold title={t`Origins (${doctor.origins.length})`}>
        <ul class="log">
          {doctor.origins.map(({ name, priority, agents, workflows, root }) => (
            <li key={`${name} ${root}`}>
              {priority} {inLine(name)}{' '}
              <small>
                {plural(agents, 'agent')} · {plural(workflows, 'workflow')} · {inLine(root)}
              </small>
            </li>
          ))}
        </ul>
      </Fold>
      {programs.length === 0 ? null : (
        <Fold
          title={labelled(t`Programs of this project`, allowed ? t`allowed to run` : t`not allowed to run`)}
        >
          <Reasons items={programs} />
        </Fold>
      )}
      <p class="proof">
        BMAD MCP Server {inLine(doctor.version)} · Node {inLine(doctor.node)} ·{' '}
        {inLine(doctor.modules.join(', '))} · {inLine(doctor.project?.root ?? '')}
      </p>
    </>
  );
}

/** What it remembers with, and where. */
function Store(): VNode {
  const loaded = useAnswer('memory_status', {}, ['memory']);
  return (
    <Shown loaded={loaded}>
      {({ place, files, engine, index, embedder, memories, degraded, notes }) => (
        <>
          <Fold title={labelled(t`Memory`, plural(memories ?? 0, 'memory', 'memories'))} open={degraded}>
            <Reasons
              items={[
                dotted(engine, embedder),
                `${plural(files, 'file of lines in', 'files of lines in')} ${place}`,
                index === undefined || engine === 'qdrant'
                  ? ''
                  : `${t`Index, which can be deleted and is made again:`} ${index}`,
              ]}
            />
          </Fold>
          <Unread items={unreadOf(notes)} />
        </>
      )}
    </Shown>
  );
}

/** The servers of this user that run now, and the session of who looks at this. */
function Instances(): VNode {
  const { instances = [], person } = session.value ?? {};
  return (
    <Fold title={`${t`Running on this machine`} (${instances.length})`}>
      <Reasons
        items={[
          ...instances.map(({ origin, client, kind, roots, pid, started, own }) =>
            dotted(
              own === true ? t`this one` : (origin ?? client ?? t`without a name`),
              kind,
              String(pid),
              age(started),
              ...roots,
            ),
          ),
          person === undefined ? '' : `${t`Your session`} ${person.id} · ${t`until ${moment(person.until)}`}`,
        ]}
      />
    </Fold>
  );
}
