import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Link, type ReceiptBody, sealed } from '../../src/services/completion/receipts.ts';
import { CONTRACT_SCRIPT } from '../../src/kit/configuration.ts';
import { branchFile, kitState } from '../../tests/support/run-project.ts';
import { callTool, withClient } from './client.ts';
import { cleanEnvironment, type Contender } from './contenders.ts';
import { madeWords, realSentence } from './made-project.ts';

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
      text: `Decision ${index}: ${realSentence(index)} See item ${index * 31}.`,
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

/** A page of failures as the kit writes it, most of them settled long ago. */
async function seedFailures(folder: string, count: number): Promise<void> {
  await writeOutputFolder(folder);
  const entries = Array.from({ length: count }, (_, index) =>
    [
      `### [2025-${twoDigits((index % 12) + 1)}-${twoDigits((index % 28) + 1)}] [dev] CC-FAIL — Story ${index} was closed: ${madeWords(index, 4)}`,
      `**What happened** : ${madeWords(index + 1, 12)}`,
      `**Rule** : ${madeWords(index + 2, 8)}`,
      '',
    ].join('\n'),
  );
  const text = `# Failure Museum\n\n## Important\n\n${entries.join('\n')}`;
  await writeFile(join(folder, '_bmad/_memory/failure-museum.md'), text);
}

/** Pages of sessions that are over. */
async function seedSessions(folder: string, count: number): Promise<void> {
  const pages = join(folder, '_bmad/_memory/session-summaries');
  await mkdir(pages, { recursive: true });
  for (let index = 0; index < count; index++)
    await writeFile(join(pages, `${runId(index).slice(4)}-dev.md`), `# Session\n\n${madeWords(index, 30)}\n`);
}

/** A chain of verdicts, each of which follows the one before. */
async function seedReceipts(folder: string, count: number): Promise<void> {
  const place = join(folder, '_bmad-output/.receipts');
  await mkdir(place, { recursive: true });
  let last: readonly Link[] = [];
  const lines = Array.from({ length: count }, () => {
    const receipt = sealed(RECEIPT, last);
    last = [receipt];
    return JSON.stringify(receipt);
  });
  await writeFile(join(place, 'receipts.jsonl'), `${lines.join('\n')}\n`);
}

/** All of them in one project, and a contract that is quickly kept. */
export async function seedEverything(folder: string, count: number): Promise<void> {
  await seedRuns(folder, count);
  await seedFailures(folder, count);
  await seedSessions(folder, count);
  await seedReceipts(folder, count);
  await mkdir(join(folder, '_bmad/_config/custom'), { recursive: true });
  const script = '#!/usr/bin/env bash\necho "CC PASS — true"\n';
  await writeFile(join(folder, '_bmad', CONTRACT_SCRIPT), script, { mode: 0o755 });
  // Git says which files are the project's, as in most.
  spawnSync('git', ['init', '-q'], { cwd: folder });
}

const RECEIPT: ReceiptBody = {
  status: 'FAIL',
  reason: 'A step failed.',
  contract: { kind: 'builtin', version: 1 },
  directory: '.',
  stack: 'auto',
  stacks: ['node'],
  steps: [],
  timed_out: false,
  started: '2025-03-01T10:00:00.000Z',
  ended: '2025-03-01T10:00:01.000Z',
  duration_ms: 1_000,
  tree: { digest: '0'.repeat(64), files: 10, listed: 'walk', left_out: 0 },
};

const twoDigits = (number: number): string => String(number).padStart(2, '0');
