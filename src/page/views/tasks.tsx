import type { VNode } from 'preact';
import type { Action, Task, TaskShown } from '../answers.ts';
import { useAnswer } from '../loading.ts';
import { Actions } from '../parts/actions.tsx';
import { Bars, Steps } from '../parts/chart.tsx';
import { Pages } from '../parts/pages.tsx';
import { Empty, Group, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { Exact } from '../parts/texts.tsx';
import { inLine } from '../parts/visible.ts';
import { address, refine, route } from '../router.ts';
import { age, day, moment } from '../message.ts';
import { words } from '../words.ts';

const STATES = ['open', 'all'] as const;

/** The queue for sub-agents: who waits, who works, what came of it. */
export function Tasks(): VNode {
  const status = route.value.query.get('status') ?? 'all';
  const loaded = useAnswer('task_list', { status, limit: 1 }, ['tasks']);
  const { tasks, shell } = words.value;
  const [, id] = route.value.rest;
  const counts = loaded.data?.counts ?? {};
  return (
    <>
      <Heading
        title={tasks.title}
        lead={loaded.data === undefined ? undefined : tasks.lead(loaded.data.total)}
      />
      <div class="filters" role="group" aria-label={tasks.states}>
        {[...STATES, ...Object.keys(counts)].map((state) => (
          <button
            type="button"
            key={state}
            aria-pressed={status === state}
            onClick={() => refine({ status: state })}
          >
            {inLine(state === 'all' ? shell.all : state.replaceAll('_', ' '), 40)}{' '}
            {counts[state] === undefined ? null : <b>{counts[state]}</b>}
          </button>
        ))}
      </div>
      {id === undefined ? null : <One id={id} />}
      <Pages operation="task_list" args={{ status, limit: 50 }} topics={['tasks']}>
        {(data) => (
          <>
            {data.tasks.length === 0 ? (
              <Empty title={tasks.empty} how={tasks.emptyHow} />
            ) : (
              <ul class="list entries long">
                {data.tasks.map((task) => (
                  <Line key={task.task_id} task={task} />
                ))}
              </ul>
            )}
            <Times tasks={data.tasks} />
            <Unread items={unreadOf(data.problems)} />
          </>
        )}
      </Pages>
    </>
  );
}

/** How many were done by when, and how long each took from the queue to its end. */
function Times({ tasks }: { tasks: readonly Task[] }): VNode | null {
  const { tasks: said } = words.value;
  const done = tasks
    .filter(({ status }) => status === 'completed')
    .sort((one, other) => one.updated_at.localeCompare(other.updated_at));
  if (done.length < 2) return null;
  const hours = (task: Task): number =>
    Math.round((Date.parse(task.updated_at) - Date.parse(task.created_at)) / 360_000) / 10;
  return (
    <section>
      <Group title={said.burnUp} />
      <Steps
        title={said.burnUp}
        points={done.map(({ updated_at }, index) => ({ label: day(updated_at), value: index + 1 }))}
      />
      <Group title={said.cycle} />
      <Bars
        title={said.cycle}
        points={done.map((task) => ({
          label: day(task.updated_at),
          note: task.output_key,
          value: hours(task),
        }))}
      />
    </section>
  );
}

function Line({ task }: { task: Task }): VNode {
  const { tasks } = words.value;
  return (
    <li>
      <a data-entry href={address('now', ['tasks', task.task_id])}>
        <span class="what">{inLine(task.task, 200)}</span>
        <span class="why">
          {inLine(task.status.replaceAll('_', ' '))} · {inLine(task.agent)} · {age(task.created_at)}
          {task.worker === undefined ? '' : ` · ${tasks.worker} ${inLine(task.worker)}`}
          {task.until === undefined ? '' : ` · ${tasks.until(moment(task.until))}`}
          {task.attempts === 0 ? '' : ` · ${tasks.attempts(task.attempts)}`}
        </span>
        <span class="proof">
          {inLine(task.task_id)} · {inLine(task.output_key)}
        </span>
      </a>
    </li>
  );
}

function One({ id }: { id: string }): VNode {
  const loaded = useAnswer('task_show', { task_id: id, brief: true }, ['tasks']);
  return (
    <section>
      <Group title={inLine(id)} />
      <Shown loaded={loaded}>{(data) => <Whole shown={data} onDone={loaded.reload} />}</Shown>
    </section>
  );
}

/** What is decided on, to the letter, and the decisions that its state allows. */
function Whole({ shown, onDone }: { shown: TaskShown; onDone: () => void }): VNode {
  const { tasks } = words.value;
  const { task, waits, brief } = shown;
  const about = { task_id: task.task_id };
  const open = task.status === 'queued' || task.status === 'running';
  const actions: Action[] = [
    ...(waits === undefined
      ? []
      : [
          { label: tasks.approve, operation: 'task_approve', args: { ...about, digest: waits.digest } },
          { label: tasks.refuse, operation: 'task_refuse', args: about, danger: true },
        ]),
    ...(open && waits === undefined
      ? [{ label: tasks.cancel, operation: 'task_cancel', args: about, danger: true }]
      : []),
  ];
  return (
    <div class="panel" data-entry tabIndex={0} aria-label={inLine(task.task)}>
      <p class="why">
        {inLine(task.status.replaceAll('_', ' '))} · {inLine(task.agent)} · {moment(task.created_at)}
        {task.approval === undefined ? '' : ` · ${inLine(task.approval)}`}
        {task.depends_on.length === 0 ? '' : ` · ${tasks.after} ${inLine(task.depends_on.join(', '))}`}
      </p>
      {task.error === undefined ? null : <p class="bad">{inLine(task.error, 600)}</p>}
      {waits === undefined ? (
        <Exact text={task.task} />
      ) : (
        <>
          {waits.texts.map(({ name, text, sha256 }) => (
            <Exact key={name} text={text} label={`${name}, ${sha256.slice(0, 8)}`} />
          ))}
          <p class="proof">
            {tasks.digest} {waits.digest}
          </p>
        </>
      )}
      <Actions actions={actions} about={inLine(task.task, 80)} onDone={onDone} />
      {brief === undefined || waits !== undefined ? null : <Exact text={brief} label={tasks.brief} />}
    </div>
  );
}
