import { BmadError, quoted } from '../../base/errors.ts';
import type { Task, TaskState } from '../../model/task.ts';

export type Lease = NonNullable<Task['lease']>;

export function isFor({ agent }: Task, wanted: string | undefined): boolean {
  return wanted === undefined || agent === wanted || agent.endsWith(`/${wanted}`);
}

export function completed(key: string, tasks: readonly Task[]): Task | undefined {
  return tasks.findLast(({ output_key, status }) => output_key === key && status === 'completed');
}

export function checkDependencies(dependsOn: readonly string[], tasks: readonly Task[]): void {
  const unknown = dependsOn.filter((key) => !tasks.some(({ output_key }) => output_key === key));
  if (unknown.length === 0) return;
  const keys = [...new Set(tasks.map(({ output_key }) => output_key))];
  throw new BmadError(
    'invalid_input',
    `depends_on: no task has the output key ${unknown.map((key) => quoted(key)).join(', ')}.`,
    {
      subject: unknown[0] ?? '',
      hint:
        keys.length === 0
          ? 'There is no task yet: spawn that one first.'
          : `Keys there are: ${keys.slice(-20).join(', ')}.`,
    },
  );
}

export function holding(task: Task, claim: string): { task: Task; lease: Lease } {
  const { lease } = task;
  if (task.status === 'running' && lease?.claim === claim) return { task, lease };
  if (task.status === 'running')
    throw new BmadError(
      'conflict',
      `${task.task_id} is held by ${quoted(lease?.worker ?? '')}, not by this claim.`,
      {
        subject: task.task_id,
        hint: 'Give the "claim" that task_claim answered with. A lease that ran out may have gone to another worker.',
      },
    );
  throw wrongState(task, 'be finished by this claim');
}

export function wrongState({ task_id, status }: Task, what: string): BmadError {
  const advice: Partial<Record<TaskState, string>> = {
    needs_approval: 'A person has to agree first: bmad task approve <id>.',
    queued: 'Claim it first with task_claim; a lease that ran out puts a task back.',
    running: 'Another worker has it; its lease ends by itself.',
  };
  return new BmadError('conflict', `${task_id} is ${status} and cannot ${what}.`, {
    subject: task_id,
    hint: advice[status] ?? 'task_show says what became of it.',
  });
}
