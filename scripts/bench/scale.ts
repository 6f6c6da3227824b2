import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callTool } from './call-tool.ts';
import { withClient } from './client.ts';
import { bmadCall, type Contender } from './contenders.ts';
import { percentile, tokens } from './statistics.ts';
import { residentMebibytes } from './system.ts';

/** What one size of project costs: finding and reading everything, the memory it takes, what tools/list says. */
export interface Scale {
  workflows: number;
  /** The first call less a later one: the time it took to look at the project. */
  scanMs: number;
  /** The first search, which makes the index; a later one; the doctor, without starting the server once more. */
  indexMs: number;
  searchMs: number;
  doctorMs: number;
  /** A call beside twenty searches of the same client, as a multiple of the same call alone. */
  besides: number;
  rssMiB: number | undefined;
  toolsListTokens: number;
}

const SIZES = [50, 500, 5_000];
const RUNS = 3;
const SEARCHES = 20;
const LATER = 9;

/** Measures our server on made-up projects of growing size, in the shape of the 6.0 installers. */
export async function measureScale(
  ours: Contender,
  scratch: string,
  say: (line: string) => void,
): Promise<Scale[]> {
  const measured: Scale[] = [];
  for (const workflows of SIZES) {
    say(`a project with ${workflows} workflows`);
    const folder = join(scratch, `project-${workflows}`);
    await writeProject(folder, workflows);
    const runs: Scale[] = [];
    for (let run = 0; run < RUNS; run++) runs.push(await measureOnce({ ...ours, folder }, workflows));
    const middle = (which: 'scanMs' | 'indexMs' | 'searchMs' | 'doctorMs' | 'besides'): number =>
      percentile(
        runs.map((run) => run[which]),
        50,
      );
    measured.push({
      workflows,
      scanMs: middle('scanMs'),
      indexMs: middle('indexMs'),
      searchMs: middle('searchMs'),
      doctorMs: middle('doctorMs'),
      besides: middle('besides'),
      rssMiB: runs[0]?.rssMiB,
      toolsListTokens: runs[0]?.toolsListTokens ?? 0,
    });
  }
  return measured;
}

async function measureOnce(program: Contender, workflows: number): Promise<Scale> {
  return withClient(program, async (client) => {
    await client.start();
    const { result } = await client.request('tools/list', {});
    const call = bmadCall({ operation: 'list', query: 'workflows' }, 'wf-0000');
    const first = await callTool(client, call);
    const later = await callTool(client, call);
    const search = bmadCall({ operation: 'search', query: 'does thing number 7' }, 'wf-');
    const indexed = await callTool(client, search);
    const searched: number[] = [];
    for (let round = 0; round < LATER; round++) searched.push((await callTool(client, search)).milliseconds);
    const examined = await callTool(client, bmadCall({ operation: 'doctor' }, 'BMAD'));
    const start = bmadCall({ operation: 'execute', workflow: 'wf-0007' }, 'wf-0007');
    await callTool(client, start);
    const alone = await callTool(client, start);
    const searches = Array.from({ length: SEARCHES }, () => callTool(client, search));
    const beside = await callTool(client, start);
    await Promise.all(searches);
    return {
      workflows,
      scanMs: first.milliseconds - later.milliseconds,
      indexMs: indexed.milliseconds,
      searchMs: percentile(searched, 50),
      doctorMs: examined.milliseconds,
      besides: beside.milliseconds / alone.milliseconds,
      rssMiB: residentMebibytes(client.pid),
      toolsListTokens: tokens(Buffer.byteLength(JSON.stringify(result))),
    };
  });
}

async function writeProject(folder: string, workflows: number): Promise<void> {
  const root = join(folder, '_bmad');
  await mkdir(join(root, '_config'), { recursive: true });
  await writeFile(
    join(root, '_config', 'manifest.yaml'),
    'installation:\n  version: 6.0.4\nmodules:\n  - core\n  - bmm\n',
  );
  const rows = ['name,description,module,path'];
  for (let index = 0; index < workflows; index++) {
    const name = `wf-${String(index).padStart(4, '0')}`;
    const path = `bmm/workflows/${name}`;
    await mkdir(join(root, path), { recursive: true });
    await writeFile(
      join(root, path, 'workflow.md'),
      `---\nname: ${name}\ndescription: Does thing number ${index}\n---\n\n# ${name}\n\n${'Some instructions to follow. '.repeat(40)}\n`,
    );
    rows.push(`"${name}","Does thing number ${index}","bmm","_bmad/${path}/workflow.md"`);
  }
  await writeFile(join(root, '_config', 'workflow-manifest.csv'), `${rows.join('\n')}\n`);
}
