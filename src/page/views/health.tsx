import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Answers } from '../answers.ts';
import { enter, session } from '../live.ts';
import { type Loaded, useAnswer } from '../loading.ts';
import { age, labelled, moment, number, plural, t } from '../message.ts';
import { Group, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { Copy, Reasons } from '../parts/texts.tsx';
import { dotted, inLine } from '../parts/wording.ts';
import { Fold } from '../parts/work.tsx';
import { address } from '../router.ts';
import { words } from '../words.ts';

/** Whether everything works: what is to be repaired first, then what is in order, folded. */
export function Health(): VNode {
  const { loaded, hosts, broken } = useRepairs();
  // Who runs and who is connected may be others than when the page was opened.
  useEffect(() => void enter(), []);
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
            {broken.map(({ what, why, to, run }) => (
              <li class="item" key={`${what} ${why}`} data-entry tabIndex={0}>
                <span class="dot bad" aria-hidden="true" />
                <div>
                  <p class="what">{inLine(what)}</p>
                  <p class="why">{inLine(why, 600)}</p>
                  {run === undefined ? null : <Copy text={run} />}
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

/** Everything that is red, wherever it is said; nothing is asked for before it is wanted. */
export function useRepairs(isWanted = true) {
  const all = isWanted ? {} : undefined;
  const loaded = useAnswer('doctor', all, ['content', 'sources']);
  const hosts = useAnswer('hosts_show', all, []);
  const [newest] = useAnswer('list_receipts', { limit: 1 }, ['receipts']).data?.items ?? [];
  const broken: { what: string; why: string; to?: string; run?: string | undefined }[] = [
    ...(newest?.status === 'FAIL'
      ? [{ what: t`The completion contract fails`, why: newest.reason, to: address('proof') }]
      : []),
    ...unreadOf(loaded.data?.problems, t`Health`),
    ...(loaded.data?.findings ?? []).filter(isBroken).map(({ about, text }) => ({ what: about, why: text })),
    ...(hosts.data?.hosts ?? []).flatMap(({ name, checks, repair: run }) =>
      checks.filter(isBroken).map(({ text, fix = '' }) => ({ what: name, why: `${text} ${fix}`, run })),
    ),
  ];
  return { loaded, hosts, newest, broken, isKnown: loaded.data !== undefined && hosts.data !== undefined };
}

const isBroken = ({ level }: { level: string }): boolean => level === 'broken';

function HealthReport({ doctor }: { doctor: Answers['doctor'] }): VNode {
  const { allowed, programs = [] } = doctor.safety ?? {};
  const notices = [
    ...doctor.findings.flatMap((each) => (isBroken(each) ? [] : [{ what: each.about, why: each.text }])),
    ...unreadOf(doctor.warnings),
  ];
  return (
    <>
      {notices.length === 0 ? null : (
        <section>
          <Group title={t`Findings`} count={notices.length} />
          <ul class="log">
            {notices.map(({ what, why }) => (
              <li key={`${what} ${why}`} title={inLine(what)} data-entry tabIndex={0}>
                {inLine(why, 600)}
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
        <p class="proof">
          BMAD MCP Server {inLine(doctor.version)} · Node {inLine(doctor.node)} ·{' '}
          {inLine(doctor.modules.join(', '))} · {inLine(doctor.project?.root ?? '')}
        </p>
      </Fold>
      {programs.length === 0 ? null : (
        <Fold
          title={labelled(t`Programs of this project`, allowed ? t`allowed to run` : t`not allowed to run`)}
        >
          <Reasons items={programs} />
        </Fold>
      )}
    </>
  );
}

/** What it remembers with, and where. */
function Store(): VNode {
  const loaded = useAnswer('memory_status', {}, ['memory']);
  return (
    <Shown loaded={loaded}>
      {({ place, files, engine, index, embedder, memories, degraded, notes }) => (
        <Fold
          title={labelled(t`Memory`, plural(memories ?? 0, 'memory', 'memories'))}
          open={degraded || notes.length > 0}
        >
          <Reasons
            items={[
              ...notes,
              dotted(engine, embedder),
              `${plural(files, 'file of lines in', 'files of lines in')} ${place}`,
              index === undefined || engine === 'qdrant'
                ? ''
                : `${t`Index, which can be deleted and is made again:`} ${index}`,
            ]}
          />
        </Fold>
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

const TONES = { ok: 'soft', notice: 'drift', broken: 'bad' } as const;

/** The hosts of this machine: which have an entry for this server, and what stands in the way of those that have. */
function Hosts({ loaded }: { loaded: Loaded<Answers['hosts_show']> }): VNode {
  const { health } = words.value;
  return (
    <section>
      <Group title={t`Hosts on this machine`} count={loaded.data?.hosts.length} />
      <Shown loaded={loaded}>
        {({ hosts }) =>
          hosts.length === 0 ? (
            <p class="soft">{t`No host was found.`}</p>
          ) : (
            <ul class="list rows">
              {hosts.map(({ host, name, scope, file, found, checks }) => (
                <li key={`${host} ${scope}`} data-entry tabIndex={0}>
                  <span title={inLine(file, 500)}>
                    {inLine(name)} <span class="soft">{health.scopes[scope]}</span>
                  </span>
                  <span class={found === 'ours' && !checks.some(isBroken) ? 'good' : 'soft'}>
                    {checks.some(isBroken) ? t`to be repaired` : health.found[found]}
                  </span>
                  {checks.map(({ level, text, fix }) => (
                    <span key={text} class={`check ${TONES[level]}`}>
                      {inLine([text, fix].filter(Boolean).join(' '), 600)}
                    </span>
                  ))}
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </section>
  );
}

/** What was started most often. */
function Usage(): VNode {
  const loaded = useAnswer('usage_show', {}, ['content']);
  return (
    <section>
      <Group title={t`Started most often`} />
      <Shown loaded={loaded}>
        {({ items, days, problem, place }) => (
          <>
            {items.length === 0 ? (
              <p class="soft">{t`Nothing has been recorded.`}</p>
            ) : (
              <Reasons
                items={items
                  .slice(0, 20)
                  .map(({ name, kind, uses, last }) => `${uses} × ${dotted(name, kind, age(last))}`)}
              />
            )}
            <p class="soft">{t`${number(days.reduce((sum, { tokens }) => sum + tokens, 0))} tokens were delivered with them.`}</p>
            <Unread items={unreadOf(problem === undefined ? [] : [problem], place)} />
          </>
        )}
      </Shown>
    </section>
  );
}
