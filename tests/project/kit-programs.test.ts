import { execFileSync, spawnSync } from 'node:child_process';
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  memoryForget,
  memoryList,
  memoryStatus,
  memorySupersede,
  memoryUpdate,
} from '../../src/operations/memory/memory-operations.ts';
import { logDecision, logLearning } from '../../src/operations/memory/remember.ts';
import { memorySession, type MemorySession } from '../support/memory-session.ts';

/** The kit’s own programs are in Python and in a repository of their own: a folder with `framework/memory` names them. */
const KIT = process.env['BMAD_TEST_KIT'];
const canRun = KIT !== undefined && spawnSync('python3', ['-c', 'import yaml']).status === 0;
const NEEDED = canRun ? '' : ' (skipped: BMAD_TEST_KIT names no checkout of the kit, or there is no Python)';
const MEMORY = '_bmad/_memory';

interface Project extends MemorySession {
  kit(program: 'mem0-bridge.py' | 'maintenance.py', ...args: string[]): string;
  memories(): Promise<string>;
}

async function project(): Promise<Project> {
  const session = await memorySession(onTestFinished);
  const from = join(KIT ?? '', 'framework', 'memory');
  const folder = join(session.folder, MEMORY);
  for (const name of (await readdir(from)).filter((each) => each.endsWith('.py')))
    await copyFile(join(from, name), join(folder, name));
  return {
    ...session,
    kit: (program, ...args) =>
      execFileSync('python3', [join(folder, program), ...args], {
        cwd: session.folder,
        encoding: 'utf8',
        env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONIOENCODING: 'utf-8', LC_ALL: 'C.UTF-8' },
      }),
    memories: () => readFile(join(folder, 'memories.json'), 'utf8'),
  };
}

const listed = async ({ ok }: Project): Promise<string[]> =>
  ((await ok(memoryList, { limit: 100 })).data['memories'] as { text: string }[]).map(({ text }) => text);

const found = async (session: Project, query: string): Promise<string[]> =>
  (await session.recall(query)).map(({ snippet }) => snippet);

describe.skipIf(!canRun)(`the kit’s own programs beside the server${NEEDED}`, () => {
  it('read what it writes, and take nothing of it away', async () => {
    const session = await project();
    const { ok, kit } = session;
    const texts = [
      'Orders are kept for ten years, “comme la loi l’exige” 😀',
      'Les journaux sont compressés chaque nuit, puis copiés ailleurs',
    ];
    for (const decision of texts) await ok(logDecision, { agent: 'dev', decision });
    await ok(logLearning, { agent: 'fullstack-dev', learning: 'Seeds come before the migration is tried' });
    const own = [...texts, 'Seeds come before the migration is tried'];
    for (const text of own) expect(kit('mem0-bridge.py', 'list')).toContain(text);
    expect(kit('mem0-bridge.py', 'search', 'orders kept ten years').split('\n')[1]).toContain(texts[0]);
    expect(kit('mem0-bridge.py', 'stats')).toContain('remember: 3');
    const before = await session.memories();
    // The kit writes the whole file anew: what it makes of ours is the same to the byte.
    kit('mem0-bridge.py', 'export', '--output', join(session.folder, 'exported.json'));
    expect(await readFile(join(session.folder, 'exported.json'), 'utf8')).toBe(before);
    expect(kit('maintenance.py', 'status')).toMatch(/Entrées mémoire : 6/);
    for (const command of ['compact', 'consolidate-learnings', 'prune-all', 'export'])
      kit('maintenance.py', command);
    kit('maintenance.py', 'health-check', '--force');
    for (const text of own) expect(await listed(session)).toContain(text);
    expect(await found(session, 'orders kept ten years')).toContain(texts[0]);
    expect((await ok(memoryStatus)).data).toMatchObject({ degraded: false });
  });

  it('write what it reads, changes and forgets, and neither loses what the other has written', async () => {
    const session = await project();
    const { ok, kit } = session;
    kit('mem0-bridge.py', 'add', 'stack', 'The giraffe queue is drained at dawn');
    kit('mem0-bridge.py', 'add', 'stack', 'The zebra queue is drained at dusk');
    await session.remember('decisions', 'dev', 'The lion queue is never drained');
    kit('mem0-bridge.py', 'add', 'stack', 'The okapi queue is drained by hand');
    for (const animal of ['giraffe', 'zebra', 'lion', 'okapi'])
      expect((await found(session, `${animal} queue`))[0]).toContain(animal);
    const idOf = async (query: string): Promise<string> => (await session.recall(query))[0]?.id ?? '';
    await ok(memoryForget, { id: await idOf('giraffe queue') });
    await ok(memoryUpdate, { id: await idOf('zebra queue'), text: 'The zebra queue is drained at noon' });
    await ok(memorySupersede, { id: await idOf('okapi queue'), by: await idOf('lion queue') });
    expect((await found(session, 'giraffe queue')).join()).not.toContain('giraffe');
    expect((await found(session, 'zebra queue')).join()).toMatch(/noon/);
    expect((await found(session, 'zebra queue')).join()).not.toMatch(/dusk/);
    expect((await found(session, 'okapi queue')).join()).not.toContain('okapi');
    // A list that is older than all of it comes back, by the kit or by git: nothing was taken away, and nothing revives.
    const older =
      '[{"id": 1, "memory": "The giraffe queue is drained at dawn", "metadata": {"agent": "stack"}}]';
    await writeFile(join(session.folder, MEMORY, 'memories.json'), older);
    expect((await found(session, 'giraffe queue')).join()).not.toContain('giraffe');
    for (const text of ['The lion queue is never drained', 'The zebra queue is drained at noon'])
      expect(await listed(session)).toContain(text);
    await session.remember('decisions', 'dev', 'The hippo queue is new');
    expect(kit('mem0-bridge.py', 'list')).toMatch(/giraffe[^]*hippo/);
    // What the kit says again after it was forgotten is another word about it.
    kit('mem0-bridge.py', 'add', 'stack', 'The giraffe queue is drained at dawn');
    expect((await found(session, 'giraffe queue'))[0]).toContain('giraffe');
    const again = await idOf('giraffe queue');
    await ok(memoryUpdate, { id: again, text: 'The giraffe queue is drained at night' });
    expect((await found(session, 'giraffe queue'))[0]).toContain('night');
  });
});
