import type { VNode } from 'preact';
import type { Answers, Action, Task } from '../answers.ts';
import { useAnswer, useNames } from '../loading.ts';
import { Actions } from '../parts/actions.tsx';
import { Choice } from '../parts/choice.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { Empty, Group, Heading, Pages, Shown, Unread, When, unreadOf } from '../parts/shown.tsx';
import { Exact, Exacts } from '../parts/texts.tsx';
import { dotted, inLine } from '../parts/wording.ts';
import { Beside, Fold } from '../parts/work.tsx';
import { address, refine, route } from '../router.ts';
import { age, moment, plural, t } from '../message.ts';
import { stateOf } from '../words.ts';

/** States in which somebody, or something, has to be looked after. */
const TONES: Readonly<Record<string, string>> = {
  needs_approval: 'open',
  needs_verification: 'open',
  running: 'info',
  completed: 'good',
  failed: 'bad',
};

const filtered = (): string | undefined => route.value.query.get('status') ?? undefined;

/** The queue for sub-agents: who waits for what, who works, what came of it. */
export function Tasks(): VNode {
  const status = filtered() ?? 'all';
  const loaded = useAnswer('task_list', { status, limit: 1 }, ['tasks']);
  const [, id] = route.value.rest;
  const counts = loaded.data?.counts ?? {};
  return (
    <div class={id === undefined ? '' : 'opened'}>
      <Heading title={t`Tasks`} />
      {Object.keys(counts).length === 0 ? null : (
        <Choice
          label={t`State`}
          now={status}
          among={['open', 'all', ...Object.keys(counts)].map((state) => [
            state,
            state === 'all' ? t`all` : stateOf(state),
            counts[state],
          ])}
          onChoose={(state) => refine({ status: state })}
        />
      )}
      <Pages operation="task_list" args={{ status, limit: 50 }} topics={['tasks']}>
        {(data) => (
          <>
            {data.tasks.length === 0 ? (
              <Empty title={t`The queue is empty.`} how={t`Agents queue work for others here.`} />
            ) : (
              <ul class="list entries">
                {data.tasks.toReversed().map((task) => (
                  <Line key={task.task_id} task={task} />
                ))}
              </ul>
            )}
            <Unread items={unreadOf(data.problems)} />
          </>
        )}
      </Pages>
      {id === undefined ? null : <One key={id} id={id} />}
    </div>
  );
}

/** Who, in which state, and what for: the same words in the list and above a task. */
function standingOf(task: Task, nameOf: (agent: string) => string): string {
  const { status, agent, worker, until, attempts, depends_on: after } = task;
  return dotted(
    stateOf(status),
    inLine(nameOf(agent), 60),
    status === 'queued' && after.length > 0 ? t`waits for ${inLine(after.join(', '))}` : '',
    worker === undefined || worker === agent ? '' : t`by ${inLine(worker, 60)}`,
    until === undefined ? '' : t`until ${moment(until)}`,
    attempts < 2 ? '' : plural(attempts, 'attempt'),
  );
}

function Line({ task }: { task: Task }): VNode {
  const nameOf = useNames();
  const status = filtered();
  return (
    <li>
      <a data-entry href={address('now', ['tasks', task.task_id], { status })} class="task">
        <span class={`dot ${TONES[task.status] ?? 'soft'}`} aria-hidden="true" />
        <span class="what">{inLine(task.task, 200)}</span>
        <span class="why">{standingOf(task, nameOf)}</span>
        <When at={task.updated_at} />
      </a>
    </li>
  );
}

function One({ id }: { id: string }): VNode {
  const loaded = useAnswer('task_show', { task_id: id, brief: true }, ['tasks']);
  return (
    <Beside about={t`Task`} back={address('now', ['tasks'], { status: filtered() })}>
      <Shown loaded={loaded}>{(data) => <Whole shown={data} onDone={loaded.reload} />}</Shown>
    </Beside>
  );
}

/** What came of it first; then what was asked, to the letter, and the decisions that its state allows. */
function Whole({ shown, onDone }: { shown: Answers['task_show']; onDone: () => void }): VNode {
  const { task, waits, brief, result, since } = shown;
  const nameOf = useNames();
  const about = { task_id: task.task_id };
  const actions: Action[] =
    waits !== undefined
      ? [
          {
            label: t`Approve`,
            operation: 'task_approve',
            args: { ...about, digest: waits.digest },
            asks: task.status === 'needs_verification',
          },
          { label: t`Refuse`, operation: 'task_refuse', args: about, danger: true, needs: ['reason'] },
        ]
      : task.status === 'queued' || task.status === 'running'
        ? [{ label: t`Cancel the task`, operation: 'task_cancel', args: about, danger: true }]
        : [];
  return (
    <>
      <p class="why">
        {standingOf(task, nameOf)} · {age(task.updated_at)}
      </p>
      <h2>{inLine(task.task)}</h2>
      {task.approval === undefined ? null : <p class="why">{inLine(task.approval, 400)}</p>}
      {task.error === undefined ? null : <p class="bad">{inLine(task.error, 600)}</p>}
      {result === undefined || waits !== undefined ? null : (
        <>
          <Group title={t`What came of it`} />
          <Markdown text={result} />
        </>
      )}
      {waits === undefined ? null : <Exacts title={task.task} texts={waits.texts} />}
      {since === undefined ? null : <p class="drift">{inLine(since, 400)}</p>}
      <Actions actions={actions} about={inLine(task.task, 80)} onDone={onDone} keyed />
      {brief === undefined || waits !== undefined ? null : (
        <Fold title={t`What the worker gets`}>
          <Exact text={brief} />
        </Fold>
      )}
      <Fold title={t`Details`}>
        <p class="proof">
          {inLine(task.task_id)} · {inLine(task.output_key)} · {moment(task.created_at)}
          {waits === undefined ? '' : ` · ${t`digest`} ${waits.digest}`}
        </p>
      </Fold>
    </>
  );
}
