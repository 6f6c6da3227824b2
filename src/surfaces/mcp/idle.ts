import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { isCallUnderWay } from '../../base/async.ts';
import type { Context } from '../../operations/context.ts';
import { operationsOnDemand } from './steps.ts';
import { callTool } from './tools.ts';
import { unattended } from './watch.ts';

/** Lets messages in between two pieces of work, and waits until those are dealt with. */
type Pause = () => Promise<void>;

type Work = (pause: Pause) => Promise<void>;

/** What a server does while nobody asks for anything. Whatever has begun when it ends is left. */
export interface Idle {
  /** Something has arrived, which comes first. */
  heard(): void;
  /** The tools are being listed. */
  listed(): void;
  /** Runs this when there is time for it, and not before the first list of tools is out. */
  afterListing(work: Work): void;
  /** Runs this at once if the tools have been listed; otherwise when there is time, after the list or a second without. */
  orAfterListing(work: () => Promise<void>): Promise<void> | undefined;
  close(): void;
}

/** Nobody has asked for anything for so long, and everything is answered: then there is time. */
const QUIET_MS = 50;
/** Most hosts ask for the tools at once. */
const UNLISTED_MS = 1_000;

export function createIdle(failed: (error: unknown) => void): Idle {
  let heardAt = 0;
  let wasListed = false;
  let ended = false;
  let running = false;
  let timer: NodeJS.Timeout | undefined;
  const queue: Work[] = [];
  const unlisted: { work: Work; patient: boolean }[] = [];

  async function quiet(): Promise<void> {
    do await delay(QUIET_MS, undefined, { ref: false });
    while (performance.now() - heardAt < QUIET_MS || isCallUnderWay());
  }

  async function pause(): Promise<void> {
    const before = heardAt;
    await turn();
    if (heardAt !== before) await quiet();
    if (ended) throw new Error('The server has ended.');
  }

  async function run(): Promise<void> {
    if (running) return;
    running = true;
    while (queue.length > 0) {
      await quiet();
      if (ended) return;
      const work = queue.shift() as Work;
      await work(pause).catch((error: unknown) => {
        if (!ended) failed(error);
      });
    }
    running = false;
  }

  function soon(work: Work): void {
    queue.push(work);
    void run();
  }

  /** Lets those begin that have waited for the list, or only those that do not insist on it. */
  function begin(all: boolean): void {
    for (const each of unlisted.splice(0)) {
      if (all || !each.patient) soon(each.work);
      else unlisted.push(each);
    }
  }

  return {
    heard() {
      heardAt = performance.now();
    },
    listed() {
      if (wasListed) return;
      wasListed = true;
      clearTimeout(timer);
      begin(true);
    },
    afterListing(work) {
      if (wasListed) soon(work);
      else unlisted.push({ work, patient: true });
    },
    orAfterListing(work) {
      if (wasListed) return work();
      unlisted.push({ work, patient: false });
      timer ??= setTimeout(() => {
        timer = undefined;
        begin(false);
      }, UNLISTED_MS).unref();
      return undefined;
    },
    close() {
      ended = true;
      clearTimeout(timer);
    },
  };
}

/** What most sessions call first. */
const USUAL = ['bmad', 'list', 'execute', 'search', 'read'] as const;
const RECALL = { name: 'recall_structured', toolset: 'memory', effect: 'read' } as const;

/** Once the tools are listed and nobody asks for anything: loads what a first call needs, unless that is switched off. */
export function prewarmed(context: Context, idle: Idle): void {
  idle.afterListing(async () => context.stay());
  if (!context.config.prewarm) return;
  // In pieces, each of which a client may have to wait for.
  idle.afterListing(async (pause) => {
    const { loadOperation } = await operationsOnDemand();
    await pause();
    for (const name of USUAL) {
      await loadOperation(name);
      await pause();
    }
    // Nobody has asked for it, and nobody counts it.
    const quiet = { ...context, observe: undefined, turn: undefined, tracing: undefined };
    await quiet.workspace();
    await pause();
    // Code that has never run is slow the first time, even if it is loaded. The tool may be switched off.
    const args = { operation: 'list', query: 'agents' };
    await callTool('bmad', args, quiet, unattended()).catch(() => undefined);
    if (!context.tools.of(RECALL).offered) return;
    await pause();
    await loadOperation(RECALL.name);
    await quiet.prepareRecall(pause);
  });
}
