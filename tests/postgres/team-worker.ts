import { rememberStructured } from '../../src/operations/memory/remember.ts';
import { runCompletionContract } from '../../src/operations/completion/completion.ts';
import { execute } from '../../src/operations/execute.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { taskClaim, taskComplete } from '../../src/operations/tasks/task-work.ts';
import { spawnSubagentTask } from '../../src/operations/tasks/tasks.ts';
import { contextIn, testCall } from '../support/app.ts';

/**
 * A server of a team under load until it is killed: `team-worker FOLDER NAME WRITERS`, with the database in the environment.
 * It says what it was told is kept, a line each; what could not be done is tried again as something else.
 */
const [folder = '', name = '', writers = '1'] = process.argv.slice(2);
const env = { PATH: process.env['PATH'] ?? '', BMAD_STATE: process.env['BMAD_STATE'] ?? '' };
const context = await contextIn(folder, { flags: { embedder: 'none' }, env });

async function done(operation: AnyOperation, input: unknown): Promise<Record<string, unknown> | undefined> {
  const outcome = await execute(operation, input, context, testCall());
  if (outcome.ok) return outcome.data;
  const { code, text } = outcome.error;
  if (code !== 'unavailable') process.stdout.write(`failed ${operation.name} ${JSON.stringify(text)}\n`);
  return undefined;
}

const tell = (what: string, id: string): void => void process.stdout.write(`${what} ${id}\n`);

async function write(at: number): Promise<void> {
  for (let count = 0; ; count += 1) {
    const key = `${name}-${at}-${count}`;
    if (at % 4 === 3) {
      const data = await done(runCompletionContract, {});
      if (data !== undefined) tell('receipt', (data['receipt'] as { id: string }).id);
    } else if (at % 2 === 0) {
      const text = `The thing called ${key} is kept where all of the team finds it`;
      const data = await done(rememberStructured, { type: 'decisions', agent: 'architect', text });
      if (data !== undefined) tell('memory', (data['memory'] as { id: string }).id);
    } else {
      await done(spawnSubagentTask, { agent: 'dev', task: `Do the thing called ${key}`, output_key: key });
      const claimed = await done(taskClaim, { worker: key });
      const task = claimed?.['task'] as { task_id: string } | undefined;
      if (task === undefined) continue;
      const { task_id } = task;
      tell('claimed', task_id);
      const result = `It was done by ${key}, and nothing is left of it.`;
      const completed = await done(taskComplete, { task_id, claim: claimed?.['claim'], result });
      if (completed !== undefined) tell('done', task_id);
    }
  }
}

await Promise.all(Array.from({ length: Number(writers) }, (_, at) => write(at)));
