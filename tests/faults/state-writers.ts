import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { receiptsOf } from '../support/kit.ts';
import { addReceipt, readChain } from '../../src/services/completion/receipts.ts';
import { openDecisions } from '../../src/services/decisions/decisions.ts';
import { openRuns, type Runs } from '../../src/services/runs/runs.ts';
import type { Tasks } from '../../src/services/tasks/tasks.ts';
import { setupIn, tasksIn } from '../support/tasks.ts';
import { writeFiles } from '../support/kit-project.ts';
import { branchFile, kitState } from '../support/run-project.ts';
import type { Scene, Writer } from './scene.ts';

const RUN = 'dev-story-20260227-143022';
/** What is told about a write that was interrupted: that the next one repairs it, or that a line was cut off. */
const TOLD = /The next write repairs it|has 1 line that cannot be read/;
const { signal } = new AbortController();
const emptyProject = ({ project }: Scene): Promise<void> =>
  writeFiles(project, { '_bmad/_memory/decisions-log.md': '# Decisions Log\n' });

async function runsOf({ project, state }: Scene): Promise<Runs> {
  return openRuns(await setupIn(project, state));
}

async function readRuns(scene: Scene): Promise<string[]> {
  const { branches } = await (await runsOf(scene)).read();
  return branches
    .flatMap(({ runs, problems }) => [
      ...problems,
      ...runs.flatMap((run) => [
        `${run.state?.['workflow'] ?? ''} ${run.status} ${run.state?.stepsCompleted.join() ?? 'no state'}`,
        ...run.problems.filter((text) => !TOLD.test(text)),
      ]),
    ])
    .sort();
}

const prepareRuns = ({ project }: Scene): Promise<void> =>
  writeFiles(project, {
    '_bmad-output/.runs/main/branch.json': branchFile('main'),
    [`_bmad-output/.runs/main/${RUN}/state.json`]: kitState({ artefacts_produced: [] }),
  });

async function queueOf({ project, state }: Scene): Promise<Tasks> {
  return (await tasksIn(project, state)).queue;
}

async function addTask(scene: Scene, what: string, approval?: string): Promise<void> {
  const order = { agent: 'dev', task: what, outputKey: what, contextFiles: [], dependsOn: [], approval };
  await (await queueOf(scene)).add({ ...order, createdBy: 'test', brief: `Do ${what}` }, signal);
}

async function readTasks(scene: Scene): Promise<string[]> {
  const queue = await queueOf(scene);
  const { tasks, problems } = await queue.all();
  const found = await Promise.all(
    tasks.map(async (task) => {
      const result = task.result === undefined ? 'no result' : await queue.result(task);
      return `${task.task} ${task.status} ${await queue.brief(task)} ${result}`;
    }),
  );
  return [...found, ...problems].sort();
}

/** What waits, and who has agreed to it. */
async function readDecided(scene: Scene): Promise<string[]> {
  const { tasks, problems } = await (await queueOf(scene)).all();
  const found = tasks.map(
    ({ task, status, approval }) => `${task} ${status} ${approval?.reason} ${approval?.by}`,
  );
  return [...found, ...problems].sort();
}

async function approve(scene: Scene, what: string): Promise<void> {
  const queue = await queueOf(scene);
  const task = (await queue.all()).tasks.find((each) => each.task === what);
  if (task === undefined || task.status !== 'needs_approval') return;
  const { digest } = await queue.decided(task);
  await queue.decide(task.task_id, { agrees: true, by: 'Ada', via: 'terminal', digest }, signal);
}

async function writeReceipt(scene: Scene, what: string): Promise<void> {
  await addReceipt(await receiptsOf(scene.project, scene.state), {
    status: 'PASS',
    reason: what,
    contract: { kind: 'builtin', version: 1 },
    directory: '.',
    stack: 'auto',
    stacks: ['go'],
    steps: [],
    timed_out: false,
    started: '2026-03-01T10:00:00.000Z',
    ended: '2026-03-01T10:00:01.000Z',
    duration_ms: 1,
    tree: { digest: 'c'.repeat(64), files: 1, listed: 'walk', left_out: 0 },
  });
}

const chainOf = async ({ project, state }: Scene) => readChain(await receiptsOf(project, state));

const readAllReceipts = async (scene: Scene): Promise<string[]> =>
  (await chainOf(scene)).intact.map(({ reason }) => reason);

/** The chain has no gap, and what was said to be written is known to be from here. */
async function wrongReceipts(scene: Scene): Promise<string[]> {
  const { problems, intact, fromHere } = await chainOf(scene);
  const [first] = intact;
  return [
    ...problems.filter(({ kind }) => kind !== 'damaged').map(({ message }) => message),
    ...(first !== undefined && fromHere(first) ? [] : ['the first one is not known to be from here']),
  ];
}

export const STATE_WRITERS: readonly Writer[] = [
  {
    name: 'a run that is opened',
    prepare: prepareRuns,
    act: async (scene, what) => (await runsOf(scene)).open({ workflow: `bmm/${what}`, workflowPath: what }),
    read: readRuns,
    slow: true,
  },
  {
    name: 'a checkpoint of a run',
    prepare: prepareRuns,
    act: async (scene, what) =>
      (await runsOf(scene)).checkpoint(RUN, 'main', { step: what === 'first' ? 4 : 5 }),
    read: readRuns,
    slow: true,
  },
  {
    name: 'a task that is added',
    prepare: emptyProject,
    act: (scene, what) => addTask(scene, what),
    read: readTasks,
  },
  {
    name: 'the result of a task',
    async prepare(scene) {
      await emptyProject(scene);
      for (const what of ['first', 'second']) await addTask(scene, what);
      const queue = await queueOf(scene);
      for (const worker of ['one', 'two']) await queue.claim({ worker, minutes: 60 }, signal);
    },
    async act(scene, what) {
      const queue = await queueOf(scene);
      const task = (await queue.all()).tasks.find((each) => each.task === what);
      const claim = task?.lease?.claim ?? '';
      await queue.complete(task?.task_id ?? '', { claim, text: `Did ${what}`, verify: false }, signal);
    },
    read: readTasks,
  },
  {
    name: 'the decision of a person on a task',
    async prepare(scene) {
      await emptyProject(scene);
      for (const what of ['first', 'second']) await addTask(scene, what, 'It deletes files');
    },
    act: approve,
    read: readDecided,
    slow: true,
  },
  {
    name: 'a receipt',
    async prepare(scene) {
      await emptyProject(scene);
      await writeReceipt(scene, 'before');
    },
    act: writeReceipt,
    read: readAllReceipts,
    wrong: wrongReceipts,
  },
  {
    name: 'the first receipt',
    prepare: emptyProject,
    act: writeReceipt,
    read: readAllReceipts,
    async wrong({ project }) {
      const text = await readFile(join(project, '_bmad-output/.receipts/.gitignore'), 'utf8');
      return text === '*\n' ? [] : ['git would see the receipts'];
    },
  },
  {
    name: 'a decision of a person',
    prepare: ({ state }) => decide(state, 'before'),
    act: ({ state }, what) => decide(state, what),
    read: async ({ state }) => [...(await openDecisions(state).of('/projects/shop').all('programs')).keys()],
  },
];

const decide = (state: string, id: string) =>
  openDecisions(state)
    .of('/projects/shop')
    .decide({ kind: 'programs', id, digest: 'a'.repeat(64), yes: true, by: 'Ada', via: 'terminal' });
