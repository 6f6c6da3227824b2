import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Action, Task, TaskShown } from '../answers.ts';
import { useAnswer } from '../loading.ts';
import { Actions } from '../parts/actions.tsx';
import { Empty, Group, Heading, Shown, Unread, unreadOf } from '../parts/shown.tsx';
import { Exact } from '../parts/texts.tsx';
import { inLine } from '../parts/visible.ts';
import { address, refine, route } from '../router.ts';
import { age, moment, words } from '../words.ts';

const STATES = ['open', 'all'] as const;

/** The queue for sub-agents: who waits, who works, what came of it. */
export function Tasks(): VNode {
  const status = route.value.query.get('status') ?? 'all';
  const [limit, setLimit] = useState(50);
  const loaded = useAnswer('task_list', { status, limit }, ['tasks']);
  const { tasks, shell } = words.value;
  const [id] = route.value.rest;
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
      <Shown loaded={loaded}>
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
            {data.next === undefined || limit >= 200 ? null : (
              <button type="button" onClick={() => setLimit(200)}>
                {shell.more}
              </button>
            )}
            <Unread items={unreadOf(data.problems)} />
          </>
        )}
      </Shown>
    </>
  );
}

function Line({ task }: { task: Task }): VNode {
  const { tasks } = words.value;
  return (
    <li>
      <a data-entry href={address('tasks', [task.task_id])}>
        <span class="what">{inLine(task.task, 200)}</span>
        <span class="why">
          {inLine(task.status.replaceAll('_', ' '))} · {inLine(task.agent)} · {age(task.created_at)}
          {task.worker === undefined ? '' : ` · ${tasks.worker} ${inLine(task.worker)}`}
          {task.until === undefined ? '' : ` · ${tasks.until} ${moment(task.until)}`}
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
  const open = ['queued', 'blocked', 'claimed', 'needs_approval', 'needs_verification'].includes(task.status);
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
