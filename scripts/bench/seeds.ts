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

/** One that the server has queued, and copies of it under other names. */
export async function seedTasks(ours: Contender, { folder }: Place, count: number): Promise<void> {
  await writeOutputFolder(folder);
  await withClient(ours, async (client) => {
    await client.start();
    await callTool(client, {
      name: 'spawn_subagent_task',
      arguments: { agent: 'dev', task: 'Draw the page', output_key: 'page' },
      expected: 'queued',
    });
  });
  const names = await readdir(join(folder, TASKS));
  const id = names.find((name) => name.endsWith('.json'))?.slice(0, -'.json'.length) ?? '';
  const texts = await Promise.all(
    ['.json', '.brief.md'].map(
      async (ending) => [ending, await readFile(join(folder, TASKS, `${id}${ending}`), 'utf8')] as const,
    ),
  );
  for (let index = 1; index < count; index++) {
    const copy = `${id.slice(0, -6)}${index.toString(16).padStart(6, '0')}`;
    for (const [ending, text] of texts)
      await writeFile(join(folder, TASKS, `${copy}${ending}`), text.replaceAll(id, copy));
  }
}
