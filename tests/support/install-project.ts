import { realpath } from 'node:fs/promises';
import { execute } from '../../src/operations/execute.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { contextIn, testCall } from './app.ts';
import { installOf, type Version } from './installs.ts';

export type Row = Record<string, unknown> & { name: string; title?: string; origin?: string };

/** A project as a user has it: with all that is built in beside its own. */
export async function projectAt(folder: string, flags: Record<string, string> = {}) {
  const context = await contextIn(folder, { flags: { toolsets: 'bmad,agents', ...flags } });
  const { catalogue } = await context.workspace();
  async function ask(operation: AnyOperation, input: Record<string, unknown> = {}) {
    const outcome = await execute(operation, input, context, testCall());
    if (!outcome.ok) throw new Error(outcome.error.text);
    return outcome;
  }
  const rows = async (operation: AnyOperation, input: Record<string, unknown> = {}): Promise<Row[]> =>
    (await ask(operation, input)).data['items'] as Row[];
  return { context, catalogue, ask, rows };
}

const alone = new Map<Version, ReturnType<typeof contextIn>>();

/** An install with nothing beside it, read once for all files of a worker. Tests must not change it. */
export function installAlone(version: Version): ReturnType<typeof contextIn> {
  const open = async (): ReturnType<typeof contextIn> =>
    contextIn(await realpath(await installOf(version)), { flags: { discovery: 'local' } });
  const known = alone.get(version) ?? open();
  alone.set(version, known);
  return known;
}

const opened = new Map<Version, ReturnType<typeof projectAt>>();

export function project(version: Version): ReturnType<typeof projectAt> {
  const known = opened.get(version) ?? installOf(version).then((folder) => projectAt(folder));
  opened.set(version, known);
  return known;
}
