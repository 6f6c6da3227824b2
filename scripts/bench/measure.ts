import { setTimeout } from 'node:timers/promises';
import { callTool, Client, withClient, type ToolCall } from './client.ts';
import { OPERATIONS, type Contender, type ContenderId, type OperationName } from './contenders.ts';
import { mean, median, percentile, shuffled } from './figures.ts';
import { cpuMilliseconds, residentMebibytes } from './system.ts';

export interface Start {
  /** From spawn to the answer to tools/list, p50. */
  wallMs: number;
  /** The same for the list that hosts make commands of, asked for after the tools. */
  promptsMs: number | undefined;
  /** The mean: the system counts in steps of 10 ms, and a median could only be one of them. */
  cpuMs: number | undefined;
  rssMiB: number | undefined;
  toolsListBytes: number;
  /** The first `list agents` of a fresh server, p50: what a server puts off at the start, it pays here. */
  firstCallMs: number | undefined;
  /** The same a second after the list, as soon as any model can call. */
  calmCallMs: number | undefined;
}

interface Warm {
  p50Ms: number;
  p95Ms: number;
  answerBytes: number;
}

export interface WarmServer {
  operations: Partial<Record<OperationName, Warm>>;
  /** After all calls, when the content has been loaded. */
  rssMiB: number | undefined;
}

export type Starts = Partial<Record<ContenderId, Start>>;
export type WarmServers = Partial<Record<ContenderId, WarmServer>>;
type Say = (line: string) => void;

/** The others have no prompts, or are compared by other things. */
const MAKES_COMMANDS = new Set<ContenderId>(['ours', 'floor']);
/** No model calls sooner after it has seen the tools. */
const MODEL_MS = 1_000;
/** Rounds before measuring: the first calls load content, and their code is not yet compiled. */
const WARM_UP_ROUNDS = 30;

/** Every contender once in each round, in a new order, so that other load on the machine hits all alike. */
export async function measureStarts(
  contenders: readonly Contender[],
  rounds: number,
  say: Say,
): Promise<Starts> {
  const samples = new Map<ContenderId, Start[]>(contenders.map(({ id }) => [id, []]));
  say('warm-up starts');
  for (const contender of contenders) await startOnce(contender);
  for (let round = 1; round <= rounds; round += 1) {
    say(`starts, round ${round} of ${rounds}`);
    for (const contender of shuffled(contenders)) {
      samples.get(contender.id)?.push(await startOnce(contender));
    }
  }
  return Object.fromEntries([...samples].map(([id, starts]) => [id, typicalOf(starts)]));
}

function startOnce(contender: Contender): Promise<Start> {
  return withClient(contender, async (client) => {
    const { result, sinceSpawn } = await client.start();
    const cpuMs = cpuMilliseconds(client.pid);
    const rssMiB = residentMebibytes(client.pid);
    const promptsMs = MAKES_COMMANDS.has(contender.id)
      ? (await client.request('prompts/list', {})).sinceSpawn
      : undefined;
    const call = contender.calls['list agents']?.(0);
    const firstCallMs = call === undefined ? undefined : (await callTool(client, call)).milliseconds;
    const toolsListBytes = listedBytes(client, result);
    const calmCallMs = call === undefined ? undefined : await calmCall(contender, call);
    return { wallMs: sinceSpawn, promptsMs, cpuMs, rssMiB, toolsListBytes, firstCallMs, calmCallMs };
  });
}

/** A server may use the time until a model calls it. */
function calmCall(contender: Contender, call: ToolCall): Promise<number> {
  return withClient(contender, async (client) => {
    await client.start();
    await setTimeout(MODEL_MS);
    return (await callTool(client, call)).milliseconds;
  });
}

function listedBytes(client: Client, result: unknown): number {
  const { tools } = (result ?? {}) as { tools?: unknown };
  if (!Array.isArray(tools) || tools.length === 0)
    throw new Error(`${client.name}: tools/list has no tools.`);
  return Buffer.byteLength(JSON.stringify(result));
}

function typicalOf(starts: readonly Start[]): Start {
  const all = (key: keyof Start): number[] =>
    starts.map((start) => start[key]).filter((value) => value !== undefined);
  return {
    wallMs: percentile(all('wallMs'), 50),
    promptsMs: median(all('promptsMs')),
    cpuMs: mean(all('cpuMs')),
    rssMiB: median(all('rssMiB')),
    toolsListBytes: percentile(all('toolsListBytes'), 50),
    firstCallMs: median(all('firstCallMs')),
    calmCallMs: median(all('calmCallMs')),
  };
}

interface Series {
  contender: Contender;
  client: Client;
  operation: OperationName;
  times: number[];
  answerBytes: number;
}

/** One running server each; every contender and operation once in each round, as with the starts. */
export async function measureWarmCalls(
  contenders: readonly Contender[],
  rounds: number,
  say: Say,
): Promise<WarmServers> {
  const clients = contenders.map((contender) => new Client(contender));
  try {
    for (const client of clients) await client.start();
    const series = contenders.flatMap((contender, index) =>
      OPERATIONS.filter((operation) => contender.calls[operation] !== undefined).map((operation): Series => ({
        contender,
        client: clients[index] as Client,
        operation,
        times: [],
        answerBytes: 0,
      })),
    );
    await callInRounds(series, rounds, say);
    return Object.fromEntries(contenders.map(({ id }) => [id, warmServerOf(id, series)]));
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

async function callInRounds(series: readonly Series[], rounds: number, say: Say): Promise<void> {
  for (let round = 1 - WARM_UP_ROUNDS; round <= rounds; round += 1) {
    if (round === 1 || (round > 1 && round % 100 === 0)) say(`warm calls, round ${round} of ${rounds}`);
    for (const one of round === 1 - WARM_UP_ROUNDS ? series : shuffled(series)) {
      const call = one.contender.calls[one.operation]?.(round + WARM_UP_ROUNDS);
      if (call === undefined) continue;
      const { milliseconds, bytes } = await callTool(one.client, call);
      one.answerBytes = bytes;
      if (round >= 1) one.times.push(milliseconds);
    }
  }
}

function warmServerOf(id: ContenderId, series: readonly Series[]): WarmServer {
  const own = series.filter(({ contender }) => contender.id === id);
  const operations = own.map(({ operation, times, answerBytes }): [OperationName, Warm] => [
    operation,
    { p50Ms: percentile(times, 50), p95Ms: percentile(times, 95), answerBytes },
  ]);
  return {
    operations: Object.fromEntries(operations),
    rssMiB: residentMebibytes(own[0]?.client.pid ?? 0),
  };
}
