import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Doctor } from '../answers.ts';
import { enter, session } from '../live.ts';
import { useAnswer } from '../loading.ts';
import { Group, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { inLine } from '../parts/visible.ts';
import { age, moment } from '../message.ts';
import { words } from '../words.ts';
import { Hosts } from './health-hosts.tsx';
import { Usage } from './health-usage.tsx';

/** Whether everything works, what is used, and what runs on this machine. */
export function Health(): VNode {
  const loaded = useAnswer('doctor', {}, ['content', 'sources']);
  const { health } = words.value;
  const { data } = loaded;
  // Who runs and who is connected may be others than when the page was opened.
  useEffect(() => void enter(), []);
  return (
    <>
      <Heading
        title={health.title}
        lead={data === undefined ? undefined : data.ok ? health.good : health.bad}
      />
      <Shown loaded={loaded}>{(found) => <HealthReport doctor={found} />}</Shown>
      <Hosts />
      <Instances />
      <Clients />
      <Usage />
      <Store />
    </>
  );
}

function HealthReport({ doctor }: { doctor: Doctor }): VNode {
  const { health } = words.value;
  const notices = [
    ...doctor.findings.map(({ about, text }) => ({ what: about, why: text })),
    ...unreadOf(doctor.warnings),
  ];
  return (
    <>
      <p class="proof">
        BMAD MCP Server {inLine(doctor.version)} · Node {inLine(doctor.node)} ·{' '}
        {inLine(doctor.modules.join(', '))} · {inLine(doctor.project?.root ?? '')}
      </p>
      {notices.length === 0 ? null : (
        <section>
          <Group title={health.findings} count={notices.length} />
          <ul class="list rows">
            {notices.map(({ what, why }) => (
              <li key={`${what} ${why}`} data-entry tabIndex={0}>
                <code>{inLine(what)}</code>
                <span>{inLine(why, 600)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Unread items={unreadOf(doctor.problems)} />
      <Group title={health.origins} count={doctor.origins.length} />
      <div class="wide" role="group" aria-label={health.origins} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{health.columns.rank}</th>
              <th scope="col">{health.columns.name}</th>
              <th scope="col">{health.columns.agents}</th>
              <th scope="col">{health.columns.workflows}</th>
              <th scope="col">{health.columns.place}</th>
            </tr>
          </thead>
          <tbody>
            {doctor.origins.map(({ name, priority, agents, workflows, root }) => (
              <tr key={`${name} ${root}`}>
                <td>{priority}</td>
                <td>{inLine(name)}</td>
                <td>{agents}</td>
                <td>{workflows}</td>
                <td class="mono">{inLine(root)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {doctor.safety === undefined || doctor.safety.programs.length === 0 ? null : (
        <section>
          <Group title={health.programs} />
          <p class={doctor.safety.allowed ? 'good' : 'drift'}>
            {doctor.safety.allowed ? health.allowed : health.notAllowed}
          </p>
          <ul class="reasons">
            {doctor.safety.programs.map((program) => (
              <li key={program} class="proof">
                {inLine(program, 500)}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Store(): VNode {
  const loaded = useAnswer('memory_status', {}, ['memory']);
  const { health, memory } = words.value;
  return (
    <section>
      <Group title={health.memory} />
      <Shown loaded={loaded}>
        {({ place, files, engine, index, embedder, memories, degraded, notes }) => (
          <>
            <p class={degraded ? 'bad' : ''}>
              {inLine(engine)} · {memory.lead(memories ?? 0)} {inLine(embedder ?? '')}
            </p>
            <p class="proof">
              {health.lines(files)} {inLine(place)}
            </p>
            <p class="proof" hidden={index === undefined || engine === 'qdrant'}>
              {health.index} {inLine(index ?? '')}
            </p>
            <Unread items={unreadOf(notes)} />
          </>
        )}
      </Shown>
    </section>
  );
}

function Instances(): VNode {
  const { health } = words.value;
  const known = session.value;
  return (
    <section>
      <Group title={health.instances} count={known?.instances.length} />
      <ul class="list rows" hidden={known?.instances.length === 0}>
        {(known?.instances ?? []).map(({ origin, client, kind, roots, pid, started, own }) => (
          <li key={`${pid} ${origin ?? ''}`} data-entry tabIndex={0}>
            <span>
              {own === true ? (
                <b>{health.own}</b>
              ) : origin === undefined ? (
                inLine(client ?? health.unnamed)
              ) : (
                <a href={origin}>{inLine(origin)}</a>
              )}{' '}
              <span class="soft">{inLine(kind)}</span>
            </span>
            <span>
              {pid} · {age(started)}
            </span>
            <span class="proof">{inLine(roots.join(' · '), 500)}</span>
          </li>
        ))}
      </ul>
      {known?.person === undefined ? null : (
        <p class="proof">
          {health.session} {inLine(known.person.id)} · {health.until(moment(known.person.until))}
        </p>
      )}
    </section>
  );
}

/** Who uses this server now; one for the page alone has none. */
function Clients(): VNode | null {
  const { health } = words.value;
  const clients = session.value?.clients ?? [];
  if (clients.length === 0) return null;
  return (
    <section>
      <Group title={health.clients} count={clients.length} />
      <ul class="list rows">
        {clients.map(({ name, last }, at) => (
          <li key={`${at} ${name}`} data-entry tabIndex={0}>
            <span>{inLine(name === '' ? health.unnamed : name)}</span>
            <span>{age(last)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
