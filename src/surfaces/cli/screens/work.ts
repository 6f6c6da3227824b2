import { say, t } from '../../../base/text/message.ts';
import type { RunData } from '../../../operations/runs/run-view.ts';
import type { TaskView } from '../../../operations/tasks/task-view.ts';
import { line, span, stacked } from '../screen/lines.ts';
import { bar, listing, MARKS, muted, problemLines, short, state, titled, when, type Draw } from './parts.ts';

export const tasksScreen: Draw<{ tasks: readonly TaskView[]; problems: readonly string[] }> = (
  { tasks, problems },
  page,
) =>
  tasks.length === 0
    ? undefined
    : stacked(
        listing(
          [
            { title: 'status' },
            { title: 'agent' },
            { title: 'task', flexible: true },
            { title: t`result as`, drop: 2 },
            { title: 'changed', drop: 1 },
          ],
          tasks.map((task) => ({
            cells: [
              line(state(task.status)),
              line(span(task.agent, 'name')),
              line(short(task.task, 200), span(taskRemark(task), 'muted')),
              line(task.output_key),
              when(task.updated_at, page),
            ],
            below: muted(task.task_id),
          })),
          page,
        ),
        problemLines(problems, page),
      );

function taskRemark({
  from,
  worker,
  error,
  approval,
  status,
  depends_on: after,
  over_http,
}: TaskView): string {
  const parts = [
    from === undefined ? undefined : t`from outside, by ${from}`,
    worker === undefined ? undefined : t`by ${short(worker, 100)}`,
    over_http === true ? t`handed in over HTTP` : undefined,
    after.length === 0 ? undefined : t`after ${after.join(', ')}`,
    error ?? (status === 'needs_approval' ? approval : undefined),
  ].flatMap((part) => (part === undefined ? [] : [part]));
  return parts.length === 0 ? '' : ` (${short(parts.join('; '), 200)})`;
}

interface Run extends Pick<RunData, 'run_id' | 'status' | 'progress' | 'last_checkpoint'> {
  workflow?: string | undefined;
  current_step?: number | undefined;
}

interface RunStatus {
  branch: string;
  run?: (Run & RunData) | undefined;
  others: readonly Run[];
  journal?: unknown;
  problems: readonly string[];
}

/** The run that is asked for, and those beside it. */
export const runsScreen: Draw<RunStatus> = ({ branch, run, others, journal, problems }, page) => {
  if (run === undefined || journal !== undefined) return undefined;
  return stacked(
    listing(
      [
        { title: 'run' },
        { title: 'status' },
        { title: 'progress' },
        { title: 'workflow', drop: 2 },
        { title: 'checkpoint', drop: 1 },
      ],
      [run, ...others].map((each) => ({
        cells: [
          line(span(each.run_id, 'name')),
          line(state(each.status)),
          [
            ...bar(each.progress.completed, each.progress.total ?? 0, 8),
            span(`  ${stepsText(each.progress)}`),
          ],
          line(each.workflow ?? ''),
          when(each.last_checkpoint, page),
        ],
      })),
      page,
    ),
    titled(
      say('Results'),
      run.artefacts.map(({ name, path, exists }) =>
        line(exists ? MARKS.good : MARKS.bad, ` ${name}  `, span(path, 'muted')),
      ),
    ),
    [muted(t`session branch ${branch}, kept in ${run.folder}`)],
    problemLines([...run.problems, ...problems], page),
  );
};

function stepsText({ completed, total }: RunData['progress']): string {
  return total === undefined ? t`${completed} done` : t`${completed} of ${total}`;
}

interface Session {
  name: string;
  standing: string;
  current: boolean;
  archive?: string | undefined;
  purpose?: string | undefined;
  created_at?: string | undefined;
  runs: Readonly<Record<string, number>>;
  latest_run?: { run_id: string; status: string } | undefined;
  problems: readonly string[];
}

export const sessionsScreen: Draw<{ sessions: readonly Session[]; problems: readonly string[] }> = (
  { sessions, problems },
  page,
) =>
  sessions.length === 0
    ? undefined
    : stacked(
        listing(
          [
            { title: '' },
            { title: 'branch' },
            { title: 'standing' },
            { title: 'purpose', flexible: true },
            { title: 'runs', end: true },
            { title: t`latest run`, drop: 1 },
            { title: 'created', drop: 2 },
          ],
          sessions.map((session) => ({
            cells: [
              line(session.current ? span('●', 'good') : ' '),
              line(span(session.archive ?? session.name, 'name')),
              line(state(session.standing)),
              line(short(session.purpose ?? '', 160)),
              line(String(session.runs['total'] ?? 0)),
              line(session.latest_run?.run_id ?? ''),
              when(session.created_at, page),
            ],
          })),
          page,
        ),
        problemLines([...sessions.flatMap((each) => each.problems), ...problems], page),
      );
