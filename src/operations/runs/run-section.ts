import { say as sayText, t } from '../../base/text/message.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { attempt, orElse } from '../../base/expected.ts';
import { stepLines, type StepWriter } from '../../base/step.ts';
import { qualifiedName, type BmadRecord } from '../../model/record.ts';
import { KINDS_OF } from '../catalogue/targets.ts';
import type { Workspace } from '../context.ts';
import { otherVersionNote } from './begun-step.ts';
import { runText } from './run-text.ts';
import {
  allDone,
  fileSteps,
  hasEnded,
  keepingNotes,
  keepingSteps,
  nextLabel,
  openRun,
  type RunData,
} from './run-view.ts';

/** Where a run that has begun goes on, in place of the words that start a workflow; nothing where it has not. */
export function underWay(run: RunData, say: StepWriter): string | undefined {
  const { run_id: id, steps_completed: done, last_step: last } = run;
  if (allDone(run))
    return t`All steps of run ${id} are done: finish it, and do not start the file below again.`;
  if (done.length === 0 && last === undefined) return undefined;
  const files = run.next_files ?? [];
  const place = t`Continue run ${id} at step ${nextLabel(run)}`;
  const other = otherVersionNote(run);
  if (files.length === 0)
    return [t`${place} of the file below; the steps before it are done.`, ...other].join(' ');
  return [
    `${place}: ${files.map(({ uri }) => uri).join(' or ')}`,
    '',
    ...stepLines(fileSteps(run), say),
    '',
    'The steps before it are done. Follow the rules of the file below, but continue with this step where it sends you to its first one.',
    ...other,
  ].join('\n');
}

const isOver = (id: string, status: string): string => t`The run ${quoted(id)} is ${sayText(status)}.`;

/** What a model has to know when it works in a run: how far it is, and how to keep it. */
export function runSection(run: RunData, record: BmadRecord, workspace: Workspace, say: StepWriter): string {
  const { run_id: id } = run;
  const workflow = qualifiedName(record);
  if (run.archive !== undefined || hasEnded(run))
    throw new BmadError('invalid_input', isOver(id, run.archive === undefined ? run.status : 'archived'), {
      subject: id,
      steps: [
        openRun(workflow, t`Open a new run`),
        { operation: 'execute', args: { name: workflow, kind: 'workflow' }, why: t`Start without a run` },
      ],
    });
  const isSame = run.workflow === undefined || run.workflow === workflow;
  if (!isSame && !leadsTo(record, run.workflow ?? '', workspace))
    throw new BmadError(
      'invalid_input',
      t`The run ${quoted(id)} is for ${run.workflow ?? ''}, not for ${workflow}.`,
      {
        subject: id,
        steps: [
          {
            operation: 'execute',
            args: { name: run.workflow, kind: 'workflow', run_id: id },
            why: t`Continue ${run.workflow ?? ''}`,
          },
          openRun(workflow, t`Open a run for ${workflow}`),
        ],
      },
    );
  const renamed = isSame
    ? []
    : [t`The run was started as ${run.workflow ?? ''}, which this version calls ${workflow}.`, ''];
  const keep = [...stepLines(keepingSteps(run), say), ...keepingNotes(run)].map((line) => `- ${line}`);
  return ['## Run', '', ...renamed, runText(run), '', ...keep].join('\n');
}

/** Whether a name that a run was begun with, perhaps in another version of BMAD, stands for this record today. */
function leadsTo(record: BmadRecord, name: string, { catalogue }: Workspace): boolean {
  const resolve = (): BmadRecord =>
    catalogue.names.resolve({ name, kinds: KINDS_OF.workflow, fuzzy: false }).record;
  const found = attempt(resolve, orElse(undefined));
  return found !== undefined && (found === record || found.deprecated?.successor === record.name);
}
