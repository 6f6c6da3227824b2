import type { Session } from './operations.ts';
import { taskApprove } from '../../src/operations/tasks/task-decide.ts';

/** Agrees to a task as a person does: reads what it asks for, then approves exactly that. */
export async function approveTask(
  session: Pick<Session, 'ok'>,
  task_id: string,
  more: Record<string, unknown> = {},
): ReturnType<Session['ok']> {
  const { data } = await session.ok(taskApprove, { task_id });
  const { digest } = data['shown'] as { digest: string };
  return session.ok(taskApprove, { task_id, digest, ...more });
}
