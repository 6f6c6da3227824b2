import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { commandLine } from '../../src/operations/offers.ts';
import { execute } from '../../src/operations/execute.ts';
import type { Choosable } from '../../src/operations/context.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { remove, setup } from '../../src/operations/server/setup.ts';
import { contextIn, temporaryFolder, testCall } from './app.ts';
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

/** A home with these files, a project in it, and the two commands over them. */
export async function machine(
  onEnd: (cleanUp: () => Promise<void>) => void,
  files: Record<string, string>,
  outside: object = {},
) {
  const home = await temporaryFolder(onEnd);
  await writeFiles(home, { 'shop/.git/HEAD': '', ...files });
  const context = await contextIn(join(home, 'shop'), { home, ...outside });
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
