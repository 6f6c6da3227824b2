import type { VNode } from 'preact';
import type { Run, RunStatus } from '../answers.ts';
import { useAnswer } from '../loading.ts';
import { HostChoice, PasteLine } from '../parts/hosts.tsx';
import { Empty, Group, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { Bar, Exact } from '../parts/texts.tsx';
import { inLine } from '../parts/visible.ts';
import { address, route } from '../router.ts';
import { age, moment } from '../message.ts';
import { words } from '../words.ts';

/** Runs of workflows: how far each is, what it wrote, and how to go on. */
export function Runs(): VNode {
  const [, id] = route.value.rest;
  const loaded = useAnswer(
    'get_workflow_status',
    { journal: true, ...(id === undefined ? {} : { run_id: id }) },
    ['runs'],
  );
  const { runs } = words.value;
  const { data } = loaded;
  const all = data === undefined ? 0 : data.others.length + (data.run === undefined ? 0 : 1);
  return (
    <>
      <Heading title={runs.title} lead={data === undefined ? undefined : leadOf(all, data.others.length)}>
        <HostChoice />
      </Heading>
      <Shown loaded={loaded}>
        {(found) => (
          <>
            {found.run === undefined ? (
              <Empty title={runs.empty} how={runs.emptyHow} />
            ) : (
              <One run={found.run} journal={found.journal ?? []} />
            )}
            <Others others={found.others} />
            <Unread
              items={unreadOf([...found.problems, ...(found.run?.problems ?? [])], found.run?.run_id)}
            />
          </>
        )}
      </Shown>
    </>
  );
}

/** So many others are told at most. */
const TOLD = 20;

const leadOf = (all: number, others: number): string =>
  others < TOLD ? words.value.runs.lead(all) : words.value.runs.newest(all);

function stepsOf({ progress }: Pick<Run, 'progress'>): string {
  return words.value.runs.steps(progress.completed, progress.total ?? progress.completed);
}

function One({ run, journal }: { run: Run; journal: NonNullable<RunStatus['journal']> }): VNode {
  const { runs } = words.value;
  const open = run.status === 'running' || run.status === 'paused' || run.status === 'pending';
  return (
    <section>
      <Group title={inLine(run.run_id)} />
      <div class="panel">
        <p class="what">
          {inLine(run.workflow ?? '')} <span class="soft">· {inLine(run.status)}</span>
        </p>
        <p class="why">
          {stepsOf(run)} · {runs.branch} {inLine(run.branch)} · {runs.started} {moment(run.started_at)} ·{' '}
          {runs.checkpoint} {age(run.last_checkpoint)}
        </p>
        <Bar done={run.progress.completed} all={run.progress.total ?? 0} label={stepsOf(run)} />
        <p class="proof">{inLine(run.folder)}</p>
        {run.agent_notes === undefined || run.agent_notes === '' ? null : <Exact text={run.agent_notes} />}
        {open ? (
          <>
            <h3>{runs.resume}</h3>
            <PasteLine
              start={{ call: { name: 'run_resume', args: { run_id: run.run_id } } }}
              prompt={undefined}
            />
          </>
        ) : null}
      </div>
      {run.artefacts.length === 0 ? null : (
        <>
          <Group title={runs.artefacts} count={run.artefacts.length} />
          <ul class="list rows">
            {run.artefacts.map(({ name, path, step, exists }) => (
              <li key={`${step ?? ''} ${path}`}>
                <span>{inLine(name)}</span>
                <span class={exists ? 'soft' : 'bad'}>{exists ? (step ?? '') : runs.missing}</span>
                <span class="proof">{inLine(path)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <Journal journal={journal} />
    </section>
  );
}

function Journal({ journal }: { journal: NonNullable<RunStatus['journal']> }): VNode | null {
  const { runs } = words.value;
  if (journal.length === 0) return null;
  return (
    <>
      <Group title={runs.journal} count={journal.length} />
      <div class="wide" role="group" aria-label={runs.journal} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{runs.columns.at}</th>
              <th scope="col">{runs.columns.event}</th>
              <th scope="col">{runs.columns.step}</th>
              <th scope="col">{runs.columns.notes}</th>
            </tr>
          </thead>
          <tbody>
            {journal.toReversed().map(({ seq, at, event, step, notes }) => (
              <tr key={seq}>
                <td>{moment(String(at))}</td>
                <td>{inLine(String(event))}</td>
                <td>{step ?? ''}</td>
                <td>{inLine(typeof notes === 'string' ? notes : '')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Others({ others }: { others: RunStatus['others'] }): VNode | null {
  const { runs, shell } = words.value;
  if (others.length === 0) return null;
  return (
    <section>
      <Group title={`${runs.title}: ${shell.all}`} count={others.length} />
      <ul class="list entries">
        {others.map((run) => (
          <li key={run.run_id}>
            <a data-entry href={address('now', ['runs', run.run_id])}>
              <span class="what">{inLine(run.run_id, 80)}</span>
              <span class="why">
                {inLine(run.status)} · {stepsOf(run)}
              </span>
              <span class="proof">{moment(run.last_checkpoint)}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
