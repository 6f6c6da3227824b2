import { placed } from '../../../base/text/text.ts';
import { say, t } from '../../../base/text/message.ts';
import type { MemoryData } from '../../../operations/memory/memory-view.ts';
import type { RunData } from '../../../operations/runs/run-view.ts';
import type { TaskView } from '../../../operations/tasks/task-view.ts';
import { commandLine } from '../../../operations/offers.ts';
import { inline } from '../screen/markdown.ts';
import { line, type Line, span, stacked } from '../screen/paint.ts';
import { wrapped } from '../screen/text.ts';
import {
  bar,
  type Draw,
  listing,
  MARKS,
  muted,
  type Page,
  problemLines,
  short,
  state,
  titled,
  when,
} from './parts.ts';

export const tasksScreen: Draw<'task_list'> = ({ tasks, problems }, page) =>
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

/** The run that is asked for, and those beside it. */
export const runsScreen: Draw<'get_workflow_status'> = ({ branch, run, others, journal, problems }, page) => {
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
          line((each === run && run.workflow) || ''),
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

export const sessionsScreen: Draw<'list_sessions'> = ({ sessions, problems }, page) =>
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

/** What waits, one entry below the other, each with why and with the commands that are about it. */
export const inboxScreen: Draw<'inbox'> = ({ items, unread }, page) =>
  items.length === 0
    ? undefined
    : stacked(
        ...items.map(({ kind, role, since, title, evidence, actions }, at) => {
          const indent = line('   ');
          const who = [say(kind), role ?? ''].filter((each) => each !== '').join(', ');
          const dated = when(since, page);
          return [
            ...wrapped(
              [
                span(short(title, 200), 'strong'),
                ...muted(`  ${who}${dated.length === 0 ? '' : ', '}`),
                ...dated,
              ],
              page.width,
              { first: line(span(`${at + 1}. `, 'muted')), rest: indent },
            ),
            ...evidence.slice(0, 3).flatMap(({ file, line: number, says }) => {
              const place = placed({ file: file.split('/').at(-1) ?? '', line: number });
              const where = file === '.' ? [] : muted(`  ${place}`);
              return wrapped([span(short(says, 160)), ...where], page.width, { first: indent, rest: indent });
            }),
            ...actions.flatMap(({ label, operation, args, needs: open }) => {
              const command = commandLine({ operation, args, open, why: label });
              return command === undefined
                ? []
                : [[...indent, span(`${t`${label}:`} `, 'muted'), span(command, 'name')]];
            }),
          ];
        }),
        problemLines(
          unread.map(({ what, why }) => t`Could not be read: ${what}: ${why}`),
          page,
        ),
      );

/** Memories in a table, each with the id that changes it. */
function memories(found: readonly MemoryData[], page: Page): Line[] {
  return listing(
    [
      { title: 'type' },
      { title: 'agent', drop: 2 },
      { title: 'memory', flexible: true },
      { title: 'changed', drop: 3 },
    ],
    found.map((memory) => ({
      cells: [
        line(span(memory.type, 'name')),
        line(memory.agent),
        inline(short(memory.text, 1_000), (memory.supersededBy ?? memory.forgottenAt) ? 'struck' : undefined),
        when(memory.updatedAt, page),
      ],
      below: muted(memory.id),
    })),
    page,
  );
}

export const memoriesScreen: Draw<'memory_list'> = (data, page) =>
  data.memories.length === 0 ? undefined : memories(data.memories, page);

export const recallScreen: Draw<'recall_structured'> = ({ hits }, page) =>
  hits.length === 0
    ? undefined
    : memories(
        hits.map((hit) => ({ ...hit, text: hit.snippet })),
        page,
      );

export const usageScreen: Draw<'usage_show'> = ({ items, problem }, page) =>
  items.length === 0 || problem !== undefined
    ? undefined
    : listing(
        [{ title: 'name' }, { title: 'kind' }, { title: 'starts', end: true }, { title: 'last' }],
        items.map(({ name, kind, uses, last }) => ({
          cells: [line(span(name, 'name')), muted(say(kind)), line(String(uses)), when(last, page)],
        })),
        page,
      );

export const receiptsScreen: Draw<'list_receipts'> = ({ items, problems }, page) =>
  items.length === 0
    ? undefined
    : stacked(
        listing(
          [
            { title: '' },
            { title: 'receipt' },
            { title: 'verdict' },
            { title: t`what was verified`, flexible: true },
            { title: 'commit', drop: 1 },
            { title: 'took', end: true, drop: 2 },
            { title: 'when' },
          ],
          items.map((receipt) => ({
            cells: [
              line(
                receipt.status === 'PASS' ? MARKS.good : receipt.status === 'FAIL' ? MARKS.bad : MARKS.warn,
              ),
              line(span(receipt.id, 'name')),
              line(state(receipt.status)),
              line(
                `${receipt.stacks.join(', ')}${receipt.working_dir === '.' ? '' : ` ${t`in ${receipt.working_dir}`}`}`,
                span(receipt.written_here === false ? ` ${t`(not written here)`}` : '', 'warn'),
              ),
              line(
                `${receipt.commit?.slice(0, 10) ?? ''}${receipt.dirty === true ? ` ${t`with changes`}` : ''}`,
              ),
              line(`${(receipt.duration_ms / 1_000).toFixed(1)} s`),
              when(receipt.started, page),
            ],
          })),
          page,
        ),
        problemLines(
          problems.map(({ message }) => message),
          page,
        ),
      );

export const sourcesScreen: Draw<'sources_list'> = ({ sources, copies, warnings }, page) =>
  sources.length === 0 || copies !== undefined
    ? undefined
    : stacked(
        listing(
          [
            { title: 'state' },
            { title: 'source', flexible: true },
            { title: 'commit' },
            { title: 'files', end: true, drop: 2 },
            { title: 'asked', drop: 1 },
          ],
          sources.map((source) => ({
            cells: [
              line(state(source.state)),
              line(span(source.source, 'name')),
              line(
                source.commit?.slice(0, 10) ?? '',
                span(source.pending === undefined ? '' : ` → ${source.pending.commit.slice(0, 10)}`, 'warn'),
              ),
              line(source.files === undefined ? '' : String(source.files)),
              when(source.checkedAt, page),
            ],
            below: source.trouble === undefined ? undefined : line(span(short(source.trouble), 'bad')),
          })),
          page,
        ),
        problemLines(
          sources.flatMap(({ source, skipped }) => skipped.map((each) => t`${source}: ${each}`)),
          page,
          MARKS.warn,
        ),
        problemLines(warnings, page, MARKS.warn),
      );

export const deliveriesScreen: Draw<'delivery_list'> = ({ contracts, problems }, page) =>
  contracts.length === 0
    ? undefined
    : stacked(
        listing(
          [
            { title: 'contract' },
            { title: 'status' },
            { title: t`from → to`, flexible: true },
            { title: 'date', drop: 1 },
            { title: 'questions', end: true, drop: 2 },
          ],
          contracts.map((each) => ({
            cells: [
              line(span(each.contract_id, 'name')),
              line(state(each.status)),
              line(`${each.from_team} → ${each.to_team}`),
              line(each.date),
              line(String(each.open_questions)),
            ],
          })),
          page,
        ),
        problemLines(problems, page),
      );
