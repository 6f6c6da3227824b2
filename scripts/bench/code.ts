import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { withClient, type Client } from './client.ts';
import { cleanEnvironment, type Contender } from './contenders.ts';
import { madeWords } from './made-project.ts';
import { percentile } from './figures.ts';
import { atRest, cpuMilliseconds, residentMebibytes } from './system.ts';

/** What the search in the code of a large project costs. */
export interface CodeGrowth {
  files: number;
  firstMs: number;
  /** Until all files have been read; nothing if that took too long, and the rest is of those that had been. */
  indexedMs: number | undefined;
  indexedCpuMs: number | undefined;
  warmMs: number;
  warmP95Ms: number;
  /** The mean of a warm query. */
  warmCpuMs: number | undefined;
  rssMiB: number | undefined;
}

export const CODE_FILES = 21_000;
const FOLDER_FILES = 100;
const FUNCTIONS = 8;
const LOOK_MS = 1_000;
const WARM_CALLS = 24;
const PATIENCE_MS = 240_000;

/** A server in a project of that many files of code: asked at once, until all is read, and afterwards. */
export async function measureCode(ours: Contender, scratch: string, files: number): Promise<CodeGrowth> {
  const [folder, home] = [join(scratch, 'code'), join(scratch, 'code-home')];
  await mkdir(home);
  await writeCode(folder, files);
  const program = {
    ...ours,
    args: [...ours.args, '--toolsets', 'memory'],
    folder,
    env: cleanEnvironment(home),
  };
  return withClient(program, async (client) => {
    await client.start();
    const [began, cpu] = [performance.now(), cpuMilliseconds(client.pid) ?? 0];
    const first = await asked(client, 0);
    let { partial } = first;
    while (partial && performance.now() - began < PATIENCE_MS) {
      await setTimeout(LOOK_MS);
      ({ partial } = await asked(client, 1));
    }
    // Until the last part of the index is written and the thread that has made it replaced.
    await atRest(client);
    const [indexedMs, indexed] = [
      partial ? undefined : performance.now() - began,
      cpuMilliseconds(client.pid),
    ];
    const times: number[] = [];
    for (let round = 0; round < WARM_CALLS; round++) times.push((await asked(client, round)).ms);
    const after = cpuMilliseconds(client.pid);
    return {
      files,
      firstMs: first.ms,
      indexedMs,
      indexedCpuMs: indexed === undefined ? undefined : indexed - cpu,
      warmMs: percentile(times, 50),
      warmP95Ms: percentile(times, 95),
      warmCpuMs: after === undefined || indexed === undefined ? undefined : (after - indexed) / WARM_CALLS,
      rssMiB: residentMebibytes(client.pid),
    };
  });
}

async function asked(client: Client, round: number): Promise<{ ms: number; partial: boolean }> {
  const { result, milliseconds } = await client.request('tools/call', {
    name: 'search_codebase',
    arguments: { query: `where the ${madeWords(round, 2)} is opened` },
  });
  const { content = [], isError } = (result ?? {}) as { content?: { text?: string }[]; isError?: boolean };
  const text = content.map((block) => block.text ?? '').join('\n');
  if (isError === true) throw new Error(`The search in code was not answered: ${text.slice(0, 300)}`);
  // The notes at the end say what has not been done yet.
  return { ms: milliseconds, partial: /\byet\b/.test(text.slice(-400)) };
}

async function writeCode(folder: string, files: number): Promise<void> {
  for (let index = 0; index < files; index++) {
    const place = join(folder, 'src', `part-${Math.floor(index / FOLDER_FILES)}`);
    if (index % FOLDER_FILES === 0) await mkdir(place, { recursive: true });
    await writeFile(join(place, `file-${index}.ts`), codeOf(index));
  }
}

const named = (seed: number): string =>
  madeWords(seed, 3).replaceAll(/ ./g, (letter) => letter.slice(1).toUpperCase());

/** About two kilobytes of functions that differ in names and words. */
function codeOf(index: number): string {
  return Array.from({ length: FUNCTIONS }, (_, at) => {
    const seed = index * FUNCTIONS + at;
    return `/** Opens the ${madeWords(seed, 3)} of file ${index} and answers what it holds. */
export function ${named(seed)}${index}(name: string, limit = ${seed % 97}): string[] {
  const found = name.split('/').filter((part) => part.length > limit);
  return found.map((part) => \`\${part}-${madeWords(seed + 1, 1)}\`);
}
`;
  }).join('\n');
}
