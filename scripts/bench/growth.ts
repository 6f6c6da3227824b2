import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { callTool, withClient, type Client, type ToolCall } from './client.ts';
import { bmadCall, cleanEnvironment, type Contender } from './contenders.ts';
import { madeWords, EDITED_TEXT, editAgent, writeProject } from './made-project.ts';
import { percentile, tokens } from './figures.ts';
import { atRest, cpuMilliseconds, processorMilliseconds, residentMebibytes } from './system.ts';

/** What a call took: on the clock, and of the processor, which other load on the machine does not change. */
export interface Cost {
  ms: number;
  cpuMs: number | undefined;
}

/** What one size of project costs. `again` is in a second process, which finds what the first has kept on disk. */
export interface Growth {
  workflows: number;
  firstList: Cost;
  firstSearch: Cost;
  listAgain: Cost;
  searchAgain: Cost;
  warmListMs: number;
  warmSearchMs: number;
  doctor: Cost;
  /** The longest that a call had to wait while doctor was at work. */
  besideDoctorMs: number;
  /** The first list after one file has been edited, in a server at rest. */
  edited: Cost;
  /** The first search where Node has the room that it takes on a machine with 8 GB. */
  smallSearch: Cost;
  /** Processor time of a page of the resources, p50. */
  pageCpuMs: number;
  /** Processor time of a warm list, of one after a memory was written, and of one in a server that watches nothing. */
  warmListCpuMs: number;
  rememberedCpuMs: number;
  unwatchedCpuMs: number;
  rssMiB: number | undefined;
  toolsListTokens: number;
}

export const SIZES = [50, 500, 5_000, 20_000] as const;
const WARM_CALLS = 15;
/** Between two calls of somebody who works beside doctor. */
const POLITE_MS = 20;

const LIST = bmadCall({ operation: 'list', query: 'workflows' }, 'wf-0000');
const EDITED = bmadCall({ operation: 'list', query: 'agents' }, EDITED_TEXT);
const SEARCH = bmadCall({ operation: 'search', query: 'something with the harbour' }, 'harbour');
const EXECUTE = bmadCall({ operation: 'execute', agent: 'agent-0' }, 'Nina 0');
const DOCTOR = bmadCall({ operation: 'doctor' }, 'BMAD');
const remember = (round: number): ToolCall => ({
  name: 'remember_structured',
  arguments: { type: 'decisions', agent: 'agent-0', text: `Part ${round}: ${madeWords(round + 1_000, 8)}.` },
  expected: 'id ',
});
/** A quarter of the memory, as V8 takes it there. */
const SMALL_MACHINE = ['--max-old-space-size=2048'];
const NOTHING = async (): Promise<void> => undefined;

/** Measures our server on a made-up project of this size. */
export async function measureGrowth(ours: Contender, scratch: string, workflows: number): Promise<Growth> {
  const [folder, home] = [join(scratch, `project-${workflows}`), join(scratch, `home-${workflows}`)];
  await mkdir(home);
  await writeProject(folder, workflows);
  try {
    return await measureOne({ ...ours, folder, env: cleanEnvironment(home) }, workflows);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureOne(program: Contender, workflows: number): Promise<Growth> {
  const listed = await withClient(program, async (client) => {
    await client.start();
    const { result } = await client.request('tools/list', {});
    const firstList = await cost(client, LIST);
    const warmListMs = await warm(client, LIST);
    const doctor = await cost(client, DOCTOR);
    return {
      firstList,
      warmListMs,
      doctor,
      toolsListTokens: tokens(Buffer.byteLength(JSON.stringify(result))),
    };
  });
  const besideDoctorMs = await withClient(program, longestBesideDoctor);
  // With a cache that is empty before the first search, and kept after it.
  const cache = join(program.folder, '..', `cache-${workflows}`);
  const cached = { ...program, env: { ...program.env, XDG_CACHE_HOME: cache } };
  const found = await withClient(cached, async (client) => {
    await client.start();
    const firstSearch = await cost(client, SEARCH);
    return { firstSearch, warmSearchMs: await warm(client, SEARCH), rssMiB: residentMebibytes(client.pid) };
  });
  const listAgain = await firstOf(cached, LIST);
  const searchAgain = await firstOf(cached, SEARCH);
  const afterEdit = await withClient(cached, async (client) => {
    await client.start();
    await warm(client, LIST);
    // People edit between calls: what the first of them has brought about is over by then.
    await atRest(client);
    await editAgent(program.folder, 0);
    const edited = await exactCost(client, EDITED);
    return { edited, pageCpuMs: await pageCost(client) };
  });
  const small = {
    ...program,
    args: [...SMALL_MACHINE, ...program.args],
    env: { ...program.env, XDG_CACHE_HOME: `${cache}-small` },
  };
  const smallSearch = await firstOf(small, SEARCH);
  const costs = await measureLists(cached);
  return {
    workflows,
    ...listed,
    ...found,
    ...afterEdit,
    besideDoctorMs,
    listAgain,
    searchAgain,
    smallSearch,
    ...costs,
  };
}

/** What a list takes where nothing has happened, after a memory was written, and where every place is looked at. */
async function measureLists(
  program: Contender,
): Promise<Pick<Growth, 'warmListCpuMs' | 'rememberedCpuMs' | 'unwatchedCpuMs'>> {
  await mkdir(join(program.folder, '_bmad', '_memory'), { recursive: true });
  const watched = await withClient(program, async (client) => {
    await client.start();
    await warm(client, LIST);
    // Until then the folders are being watched, which is no part of a call.
    await atRest(client);
    return {
      warmListCpuMs: await processorTime(client, LIST, NOTHING),
      rememberedCpuMs: await processorTime(client, LIST, async (round) => {
        await callTool(client, remember(round));
        await atRest(client);
      }),
    };
  });
  const unwatchedCpuMs = await withClient(
    { ...program, args: [...program.args, '--watch', 'off'] },
    async (client) => {
      await client.start();
      await warm(client, LIST);
      return processorTime(client, LIST, NOTHING);
    },
  );
  return { ...watched, unwatchedCpuMs };
}

const MEASURED_CALLS = 15;

/** The processor time of a call, p50, with something before each. */
async function processorTime(
  client: Client,
  call: ToolCall,
  before: (round: number) => Promise<unknown>,
): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < MEASURED_CALLS; round++) {
    await before(round);
    const began = processorMilliseconds(client.pid);
    await callTool(client, call);
    times.push(processorMilliseconds(client.pid) - began);
  }
  return percentile(times, 50);
}

async function longestBesideDoctor(client: Client): Promise<number> {
  await client.start();
  await callTool(client, LIST);
  await callTool(client, EXECUTE);
  const over = new AbortController();
  const doctor = callTool(client, DOCTOR).finally(() => over.abort());
  let longest = 0;
  const polite = async (): Promise<void> => {
    while (!over.signal.aborted) {
      longest = Math.max(longest, (await callTool(client, EXECUTE)).milliseconds);
      await setTimeout(POLITE_MS);
    }
  };
  await Promise.all([doctor, polite()]);
  return longest;
}

function firstOf(program: Contender, call: ToolCall): Promise<Cost> {
  return withClient(program, async (client) => {
    await client.start();
    return cost(client, call);
  });
}

const PAGES = 20;

/** The processor time of a page of the resources, after the first, which lists all files. */
async function pageCost(client: Client): Promise<number> {
  const times: number[] = [];
  let cursor: string | undefined;
  for (let page = 0; page <= PAGES; page++) {
    const began = processorMilliseconds(client.pid);
    const { result } = await client.request('resources/list', cursor === undefined ? {} : { cursor });
    if (page > 0) times.push(processorMilliseconds(client.pid) - began);
    cursor = (result as { nextCursor?: string }).nextCursor;
    if (cursor === undefined) break;
  }
  return percentile(times, 50);
}

/** The same as `cost`, for calls that take no more than a few of the steps in which a system counts. */
async function exactCost(client: Client, call: ToolCall): Promise<Cost> {
  const before = processorMilliseconds(client.pid);
  const { milliseconds } = await callTool(client, call);
  return { ms: milliseconds, cpuMs: processorMilliseconds(client.pid) - before };
}

async function cost(client: Client, call: ToolCall): Promise<Cost> {
  const before = cpuMilliseconds(client.pid);
  const { milliseconds } = await callTool(client, call);
  const after = cpuMilliseconds(client.pid);
  return {
    ms: milliseconds,
    cpuMs: before === undefined || after === undefined ? undefined : after - before,
  };
}

async function warm(client: Client, call: ToolCall): Promise<number> {
  // A model thinks between its calls, and the watch over the files takes the first pause.
  await atRest(client);
  const times: number[] = [];
  for (let round = 0; round < WARM_CALLS; round++) times.push((await callTool(client, call)).milliseconds);
  return percentile(times, 50);
}
