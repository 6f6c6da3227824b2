import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { commandLine } from '../../src/operations/offers.ts';
import { execute } from '../../src/operations/execute.ts';
import type { HostSetup } from '../../src/hosts/hosts.ts';
import type { Choosable, Context } from '../../src/operations/context.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { remove, setup } from '../../src/operations/server/setup.ts';
import { contextIn, serverFile, temporaryFolder, testCall } from './app.ts';
import { writeFiles } from './folders.ts';

export interface Row {
  host: string;
  file: string;
  outcome: string;
  problem?: string;
  copy?: string;
  diff?: string;
  text?: string;
}

type Handshake = HostSetup['handshake'];

const PLAIN = JSON.stringify({ command: process.execPath, args: [serverFile], env: {} });
let answered: ReturnType<Handshake> | undefined;

/**
 * A start takes longer than all else that set-up does. The entry that it writes, with nothing added, starts the same program on
 * all machines of these tests: it is started once for all of them, and any other entry each time.
 */
const plainOnce =
  (handshake: Handshake): Handshake =>
  (start, ...where) =>
    JSON.stringify(start) === PLAIN ? (answered ??= handshake(start, ...where)) : handshake(start, ...where);

/** A home with these files, a project in it, and the two commands over them. */
export async function machine(
  onEnd: (cleanUp: () => Promise<void>) => void,
  files: Record<string, string>,
  outside: object = {},
) {
  const home = await temporaryFolder(onEnd);
  await writeFiles(home, { 'shop/.git/HEAD': '', ...files });
  const own = await contextIn(join(home, 'shop'), { home, ...outside });
  const context: Context = {
    ...own,
    async hostSetup() {
      const found = await own.hostSetup();
      return { ...found, handshake: plainOnce(found.handshake) };
    },
  };
  const asked = async (operation: AnyOperation, input: object, typed?: string[], chosen?: string[]) => {
    let offers: readonly Choosable[] = [];
    const prompts: string[] = [];
    const call = {
      ...testCall(),
      say: commandLine,
      ...(typed === undefined
        ? {}
        : {
            ask: async (prompt: string) => {
              prompts.push(prompt);
              return typed.shift() ?? '';
            },
            choose: async (_question: string, all: readonly Choosable[]) => {
              offers = all;
              return chosen ?? all.filter(({ on }) => on).map(({ value }) => value);
            },
          }),
    };
    const outcome = await execute(operation, input, context, call);
    const rows = outcome.ok ? (outcome.data['results'] as Row[]) : [];
    return { outcome, rows, prompts, offers, error: outcome.ok ? undefined : outcome.error };
  };
  return {
    home,
    context,
    path: (name: string) => join(home, name),
    text: (name: string) => readFile(join(home, name), 'utf8'),
    setup: (input: object = {}, typed?: string[], chosen?: string[]) => asked(setup, input, typed, chosen),
    remove: (input: object = {}) => asked(remove, input),
  };
}

export const outcomes = (rows: readonly Row[]): Record<string, string> =>
  Object.fromEntries(rows.map(({ host, outcome }) => [host, outcome]));

export const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
