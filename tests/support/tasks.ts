import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { linePlaces } from '../../src/kit/project-log.ts';
import { LineFiles } from '../../src/lines/files.ts';
import { asMuchAsFits, type Happened, happenedIn, type Log } from '../../src/lines/line.ts';
import type { Task } from '../../src/model/task.ts';
import { openDecisions } from '../../src/services/decisions/decisions.ts';
import { entityOf, taskOf } from '../../src/services/tasks/fold.ts';
import { openTasks, type TaskQueue } from '../../src/services/tasks/tasks.ts';
import { kitIn } from './kit.ts';
import { isOnDatabase, teamLogs } from './team-state.ts';

const env = { PATH: process.env['PATH'] };

/** What opens the lines of a project for a program that knows nothing of the application around it. */
export async function setupIn(folder: string, users?: string) {
  const state = users ?? join(folder, 'state');
  const [kit, logs] = [await kitIn(folder, users), await teamLogs(folder)];
  return { kit, state, cache: join(state, 'cache'), env, writes: true, logs };
}

/** The queue of a project as a program has it that knows nothing of the application around it. */
export async function tasksIn(folder: string, users?: string): Promise<TaskQueue> {
  const setup = await setupIn(folder, users);
  return openTasks(setup, openDecisions(setup.state).of(folder));
}

export async function logIn(folder: string): Promise<Log> {
  const setup = await setupIn(folder);
  const { all } = await linePlaces(setup);
  if (isOnDatabase) return setup.logs.at(all, setup);
  const by = { kind: 'local', name: 'hand' } as const;
  return new LineFiles({ ...all, mirror: undefined }, { machine: () => Promise.resolve('hand'), by });
}

/** What the lines of a project say about one of its tasks. */
export async function linesAbout(folder: string, id: string): Promise<Happened[]> {
  const found: Happened[] = [];
  for await (const { lines } of (await logIn(folder)).read(new Map()))
    found.push(...lines.flatMap(({ line }) => happenedIn(line)).filter(({ of }) => of === entityOf(id)));
  return found;
}

/** Adds a line about a task as anybody can who writes in the folder of the project. */
export async function forgeLine(
  folder: string,
  id: string,
  verb: string,
  data: Record<string, unknown>,
): Promise<void> {
  const after = (await linesAbout(folder, id)).map((event) => event.id);
  await (await logIn(folder)).append([{ of: entityOf(id), after, do: verb, data }]);
}

/** Makes another text of a task's brief or result, as anybody can who writes where they are. */
export async function forgeText(folder: string, name: string, text: string): Promise<void> {
  const setup = await setupIn(folder);
  const shared = setup.logs.texts((await linePlaces(setup)).all, setup);
  await (shared?.putText(name, text) ?? writeFile(join(folder, '_bmad-output/.tasks', name), text));
}

/** A task as the lines have it. */
export async function taskIn(folder: string, id: string): Promise<Task> {
  return taskOf(id, await linesAbout(folder, id)) as Task;
}

/** Puts tasks into a project all at once, as its lines would have them after a long time. */
export async function forgeTasks(folder: string, tasks: readonly Task[]): Promise<void> {
  const log = await logIn(folder);
  const events = tasks.map((task) => ({ of: entityOf(task.task_id), after: [], do: 'create', data: task }));
  for (const part of asMuchAsFits(events)) await log.append(part);
}

/** Makes something else of a task, as anybody can who writes in the folder of the project. */
export async function forgeTask(
  folder: string,
  id: string,
  change: (task: Record<string, unknown>) => Record<string, unknown>,
): Promise<void> {
  const task = await taskIn(folder, id);
  const later = new Date(Date.parse(task.updated_at) + 1).toISOString();
  await forgeLine(folder, id, 'moved', { ...change(task), updated_at: later });
}
