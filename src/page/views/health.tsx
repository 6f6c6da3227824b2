import type { VNode } from 'preact';
import type { Doctor } from '../answers-known.ts';
import { session } from '../live.ts';
import { useAnswer } from '../loading.ts';
import { Group, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { Bar } from '../parts/texts.tsx';
import { inLine } from '../parts/visible.ts';
import { age, moment, words } from '../words.ts';

/** Whether everything works, what is used, and what runs on this machine. */
export function Health(): VNode {
  const loaded = useAnswer('doctor', {}, ['content', 'sources']);
  const { health } = words.value;
  const { data } = loaded;
  return (
    <>
      <Heading
        title={health.title}
        lead={data === undefined ? undefined : data.ok ? health.good : health.bad}
      />
      <Shown loaded={loaded}>{(found) => <Found doctor={found} />}</Shown>
      <Usage />
      <Store />
      <Instances />
    </>
  );
}

function Found({ doctor }: { doctor: Doctor }): VNode {
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

function Usage(): VNode {
  const loaded = useAnswer('usage_show', {}, ['content']);
  const { health } = words.value;
  return (
    <section>
      <Group title={health.usage} />
      <Shown loaded={loaded}>
        {({ items, problem, place }) => {
          const most = Math.max(1, ...items.map(({ uses }) => uses));
          return (
            <>
              {items.length === 0 ? (
                <p class="soft">{health.noUsage}</p>
              ) : (
                <ul class="list rows">
                  {items.slice(0, 20).map(({ name, kind, uses, last }) => (
                    <li key={`${kind} ${name}`}>
                      <span>
                        {inLine(name)} <span class="soft">{inLine(kind)}</span>
                      </span>
                      <span>
                        {uses} · {age(last)}
                      </span>
                      <Bar done={uses} all={most} label={`${inLine(name)}: ${uses}`} />
                    </li>
                  ))}
                </ul>
              )}
              <p class="proof">{inLine(place)}</p>
              <Unread items={unreadOf(problem === undefined ? [] : [problem], place)} />
            </>
          );
        }}
      </Shown>
    </section>
  );
}

function Store(): VNode {
  const loaded = useAnswer('memory_status', {}, ['memory']);
  const { health, memory } = words.value;
  return (
    <section>
      <Group title={health.memory} />
      <Shown loaded={loaded}>
        {({ engine, place, embedder, memories, degraded, notes }) => (
          <>
            <p class={degraded ? 'bad' : ''}>
              {inLine(engine)} · {memory.lead(memories)} {inLine(embedder ?? '')}
            </p>
            <p class="proof">{inLine(place)}</p>
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
        {(known?.instances ?? []).map(({ origin, kind, roots, pid, started, own }) => (
          <li key={`${pid} ${origin}`} data-entry tabIndex={0}>
            <span>
              {own === true ? <b>{health.own}</b> : <a href={origin}>{inLine(origin)}</a>}{' '}
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
          {health.session} {inLine(known.person.id)} · {health.until} {moment(known.person.until)}
        </p>
      )}
    </section>
  );
}
