import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { JsonlStore } from '../../src/services/memory/jsonl/store.ts';
import { openSqliteStore } from '../../src/services/memory/sqlite/store.ts';
import type { MemoryStore } from '../../src/services/memory/engine.ts';
import { childProgram } from '../support/child-program.ts';
import { storeOptions, uuid } from './places.ts';

export type FileEngine = 'sqlite' | 'jsonl';

const WRITER = 'tests/memory/writer.ts';

/** Runs a writer; with `killAfter` it is killed without warning after so many acknowledged writes. */
export async function runWriter(
  engine: FileEngine,
  file: string,
  name: string,
  count: number,
  killAfter?: number,
): Promise<{ acknowledged: string[]; code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [await childProgram(WRITER), engine, file, name, String(count)]);
  const acknowledged: string[] = [];
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  createInterface({ input: child.stdout }).on('line', (line) => {
    acknowledged.push(line);
    if (killAfter !== undefined && acknowledged.length >= killAfter) child.kill('SIGKILL');
  });
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  return { acknowledged, code, stderr };
}

export async function openFile(engine: FileEngine, file: string): Promise<MemoryStore> {
  return engine === 'jsonl'
    ? new JsonlStore({ ...storeOptions(), file })
    : openSqliteStore({ ...storeOptions(), file });
}

/** Which of the acknowledged memories are not there. */
export async function lostOf(store: MemoryStore, acknowledged: Iterable<string>): Promise<string[]> {
  const lost: string[] = [];
  for (const name of new Set(acknowledged))
    if ((await store.get({ type: 'decisions', id: uuid(name) })) === undefined) lost.push(name);
  return lost;
}
