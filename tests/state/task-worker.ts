import { tasksIn } from '../support/tasks.ts';

/**
 * A process that works on the tasks of a project until none is left: `task-worker FOLDER NAME`. It says what it has
 * claimed and what it has been told is complete, one line each.
 */
const [folder = '', worker = ''] = process.argv.slice(2);
const { queue } = await tasksIn(folder);
const { signal } = new AbortController();

for (;;) {
  const claimed = await queue.claim({ worker, minutes: 60 }, signal);
  if (claimed === undefined) break;
  const { task_id, lease } = claimed.task;
  process.stdout.write(`claimed ${task_id}\n`);
  await queue.complete(task_id, { claim: lease?.claim ?? '', text: `by ${worker}`, verify: false }, signal);
  process.stdout.write(`completed ${task_id}\n`);
}
