import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createContext, type Outside } from '../../src/app/app.ts';
import type { Call, Context } from '../../src/operations/context.ts';
import { toolCall } from '../../src/operations/unified/forms.ts';
import { teamEnv } from './team-state.ts';

export const repository = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const contentRoot = join(repository, 'dist', 'content');
export const serverFile = join(repository, 'dist', 'bmad-mcp-server.cjs');
export const cliFile = join(repository, 'dist', 'bmad.cjs');

/** The home folder of a user who works in a folder: beside it, since no project holds the home of its user. */
export const homeBeside = (folder: string): string => `${folder}.home`;

/** A new empty folder, gone when the test is over. */
export async function temporaryFolder(onEnd: (cleanUp: () => Promise<void>) => void): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'bmad-test-')));
  // What ends in the background may still write there.
  onEnd(async () => {
    for (const each of [folder, homeBeside(folder)])
      await rm(each, { recursive: true, force: true, maxRetries: 5 });
  });
  return folder;
}

/** What a program of ours sees around it, where it runs in the test's own process. */
export const outsideHere = ({
  cwd,
  home,
  flags = {},
  env = {},
}: Pick<Outside, 'cwd' | 'home'> & Partial<Pick<Outside, 'flags' | 'env'>>): Outside => ({
  flags,
  presets: {},
  env,
  cwd,
  home,
  platform: process.platform,
  contentRoot,
  serverCommand: [process.execPath, serverFile],
  writeError: () => undefined,
  terminal: false,
  patient: false,
});

/** The real application over a folder, with nothing of the machine's own configuration in it. */
export async function contextIn(
  folder: string,
  outside: Partial<Outside> = {},
): Promise<Context & { written: string[] }> {
  const written: string[] = [];
  const context = await createContext({
    ...outsideHere({ cwd: folder, home: homeBeside(folder) }),
    // Most tests start things, and end before anything that is written in the background. On a busy machine, code takes long to read.
    presets: { usage: 'false', codeSearchMs: '60000' },
    writeError: (text) => written.push(text),
    ...outside,
    env: { ...teamEnv(folder), ...outside.env },
  });
  return { ...context, written };
}

/** As a server that stays: from now on a watch may answer for what is on disk, on systems where it can. */
export async function withWatch<T extends Context>(context: T, onEnd: (end: () => void) => void): Promise<T> {
  onEnd(() => context.close());
  context.stay();
  // It begins when everything was compared once.
  await context.workspace();
  await context.workspace();
  while (process.platform === 'linux' && context.watching() === undefined) await setTimeout(20);
  return context;
}

export function testCall(): Call {
  return { signal: new AbortController().signal, progress: () => undefined, say: toolCall };
}
