import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { branchFile, kitState } from '../../tests/support/run-project.ts';
import { callTool } from './call-tool.ts';
import { withClient } from './client.ts';
import { cleanEnvironment, type Contender } from './contenders.ts';
import { madeWords } from './made-words.ts';

/** A project and the home of its user. */
export interface Place {
  folder: string;
  home: string;
}

const RUNS = '_bmad-output/.runs/main';
const TASKS = '_bmad-output/.tasks';
const LINES = '_bmad/_memory/.bmad-memory';

/** Through the command line, as a user brings memories from elsewhere. */
export async function seedMemories(server: string, { folder, home }: Place, count: number): Promise<void> {
  const file = join(home, 'memories.jsonl');
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      type: 'decisions',
      agent: 'architect',
      text: `Decision ${index}: ${madeWords(index, 12)}, item ${index * 31}.`,
    }),
  );
  await writeFile(file, `${lines.join('\n')}\n`);
  const program = server.replace('bmad-mcp-server.cjs', 'bmad.cjs');
  const env = { ...cleanEnvironment(home), BMAD_MAX_FILE_BYTES: '100000000' };
  const { status, stderr } = spawnSync(process.execPath, [program, 'memory', 'import', file], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The memories could not be imported:\n${stderr}`);
}

/** What says that the state of a project is in its output folder. */
async function writeOutputFolder(folder: string): Promise<void> {
  await mkdir(join(folder, '_bmad/_memory'), { recursive: true });
  await writeFile(
    join(folder, '_bmad/_memory/config.yaml'),
    'output_folder: "{project-root}/_bmad-output"\n',
  );
}

export const runId = (index: number): string =>
  `prd-202601${String((index % 28) + 1).padStart(2, '0')}-${100_000 + index}`;

export async function seedRuns(folder: string, count: number): Promise<void> {
  await writeOutputFolder(folder);
  await mkdir(join(folder, RUNS), { recursive: true });
  await writeFile(join(folder, RUNS, 'branch.json'), branchFile('main'));
  for (let index = 0; index < count; index++) {
    const place = join(folder, RUNS, runId(index));
    await mkdir(place);
    await writeFile(
      join(place, 'state.json'),
      kitState({ run_id: runId(index), status: 'completed', artefacts_produced: [] }),
    );
  }
}

/** How many the server queues itself, so that there is something to claim. */
const QUEUED = 45;

/** Some that the server has queued, and as many as asked for that look like the first and were done long ago. */
export async function seedTasks(ours: Contender, { folder }: Place, count: number): Promise<void> {
  await writeOutputFolder(folder);
  await withClient(ours, async (client) => {
    await client.start();
    for (let index = 0; index < QUEUED; index++)
      await callTool(client, {
        name: 'spawn_subagent_task',
        arguments: { agent: 'dev', task: 'Draw the page', output_key: `page_${index}` },
        expected: 'queued',
      });
  });
  await seedFinished(folder, count);
}

interface SeedLine {
  id: string;
  events: { of: string; after: string[]; do: string; data: Record<string, unknown> }[];
}

/** Three lines for each task, as its creation, its claim and its result have left them. */
async function seedFinished(folder: string, count: number): Promise<void> {
  const [lines, tasks] = [join(folder, LINES), join(folder, TASKS)];
  const day = (await readdir(lines)).find((name) => /^\d{4}-/.test(name)) ?? '';
  const [file = ''] = await readdir(join(lines, day));
  const [text = ''] = (await readFile(join(lines, day, file), 'utf8')).split('\n');
  const { events, ...line } = JSON.parse(text) as SeedLine;
  const made = events[0]?.data ?? {};
  const brief = await readFile(join(tasks, `${String(made['task_id'])}.brief.md`));
  const written: string[] = [];
  for (let index = 0; index < count; index++) {
    const task_id = `task-20260101-000000-${index.toString(16).padStart(6, '0')}`;
    const [of, claim, name] = [
      `task/${task_id}`,
      index.toString(16).padStart(16, '0'),
      `${task_id}.result.md`,
    ];
    const result = { file: name, bytes: 5, digest: `sha256:${'0'.repeat(64)}`, by: 'worker' };
    const data = { ...made, task_id, output_key: `done_${index}`, created_at: '2026-01-01T00:00:00.000Z' };
    const said = [
      { do: 'create', data },
      { do: 'claim', data: { worker: 'worker', claim, until: '2026-01-01T01:00:00.000Z' } },
      { do: 'complete', data: { claim, result, status: 'completed' } },
    ];
    for (const [at, event] of said.entries()) {
      const after = at === 0 ? [] : [`${claim}${at - 1}`];
      written.push(JSON.stringify({ ...line, id: `${claim}${at}`, events: [{ of, after, ...event }] }));
    }
    await writeFile(join(tasks, `${task_id}.brief.md`), brief);
    await writeFile(join(tasks, name), 'Done.');
  }
  await writeFile(join(lines, day, 'seeded-000000000000.jsonl'), `${written.join('\n')}\n`);
}
