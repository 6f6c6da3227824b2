import { spawn } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it } from 'vitest';
import { tasksIn } from '../support/tasks.ts';
import type { Tasks } from '../../src/services/tasks/tasks.ts';
import { temporaryFolder } from '../support/app.ts';
import { childProgram } from '../support/child-program.ts';
import { isDeep } from '../support/how-much.ts';

const WORKER = 'tests/state/task-worker.ts';
/** The full measure takes minutes on a small machine; it is run on request. */
const FULL = process.env['BMAD_TEST_FULL'] !== undefined;
const PROCESSES = FULL ? 8 : 4;
const TASKS = FULL ? 200 : 24;
const { signal } = new AbortController();

async function queueWith(count: number): Promise<{ folder: string; queue: Tasks; ids: string[] }> {
  const folder = await temporaryFolder(afterAll);
  await mkdir(join(folder, '_bmad/_memory'), { recursive: true });
  const { queue } = await tasksIn(folder);
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const order = {
      agent: 'dev',
      task: `Task ${index}`,
      outputKey: `key_${index}`,
      contextFiles: [],
      dependsOn: [],
    };
    ids.push((await queue.add({ ...order, createdBy: 'test', brief: `Do ${index}` }, signal)).task_id);
  }
  return { folder, queue, ids };
}

interface Worker {
  claimed: string[];
  completed: string[];
}

/** Runs a worker; with `killAfter` it is killed without warning after so many lines. */
async function work(folder: string, name: string, killAfter?: number): Promise<Worker> {
  const child = spawn(process.execPath, [await childProgram(WORKER), folder, name]);
  const told: Worker = { claimed: [], completed: [] };
  let lines = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [what, id = ''] = line.split(' ');
    told[what === 'claimed' ? 'claimed' : 'completed'].push(id);
    lines += 1;
    if (killAfter !== undefined && lines >= killAfter) child.kill('SIGKILL');
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  if (killAfter === undefined && code !== 0) throw new Error(`worker ${name}: ${stderr}`);
  return told;
}

describe('the queue between processes', () => {
  it('gives every task to one worker only', { timeout: 300_000 }, async () => {
    const { folder, queue, ids } = await queueWith(TASKS);
    const names = Array.from({ length: PROCESSES }, (_, index) => `worker-${index}`);
    const workers = await Promise.all(names.map((name) => work(folder, name)));
    const claimed = workers.flatMap((worker) => worker.claimed);
    expect([...claimed].sort()).toEqual([...ids].sort());
    const { tasks, problems } = await queue.all();
    expect(problems).toEqual([]);
    for (const task of tasks) {
      expect(task).toMatchObject({ status: 'completed', attempts: 1 });
      const holder = workers.findIndex((worker) => worker.claimed.includes(task.task_id));
      expect(await queue.result(task)).toBe(`by worker-${holder}`);
    }
  });

  it('loses nothing that was acknowledged when workers are killed', { timeout: 300_000 }, async () => {
    const { folder, queue, ids } = await queueWith(12);
    const completed: string[] = [];
    const claimed: string[] = [];
    for (const lines of isDeep ? [1, 2, 3, 5] : [2, 3]) {
      const worker = await work(folder, `killed-${lines}`, lines);
      completed.push(...worker.completed);
      claimed.push(...worker.claimed);
    }
    const { tasks, problems } = await queue.all();
    expect(problems).toEqual([]);
    expect(tasks.map(({ task_id }) => task_id).sort()).toEqual([...ids].sort());
    const of = (status: string): string[] =>
      tasks.filter((task) => task.status === status).map(({ task_id }) => task_id);
    expect(of('completed')).toEqual(expect.arrayContaining(completed));
    expect([...of('completed'), ...of('running')]).toEqual(expect.arrayContaining(claimed));
    // What is left is done by the next worker, except what the dead still hold.
    const last = await work(folder, 'last');
    expect(new Set([...last.completed, ...of('completed'), ...of('running')])).toEqual(new Set(ids));
    const drafts = (await readdir(join(folder, '_bmad-output/.tasks'))).filter((name) =>
      name.endsWith('.lock'),
    );
    expect(drafts).toEqual([]);
  });
});
