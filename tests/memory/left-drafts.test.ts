import { spawnSync } from 'node:child_process';
import { readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { openProject } from './open-project.ts';

/** The number of a process that has ended. */
const gone = spawnSync(process.execPath, ['-e', '']).pid;
const HOUR = 3_600_000;

async function project(): Promise<{ root: string; memory: string; left(): Promise<string[]> }> {
  const root = await temporaryFolder(afterAll);
  await writeFiles(root, KIT_FILES);
  const memory = join(root, '_bmad/_memory');
  const drafts = {
    [`memories.json.${gone}.0123abcd.tmp`]: HOUR,
    [`agent-learnings/fullstack-dev.md.${gone}.0123abcd.tmp`]: HOUR,
    [`memories.json.${process.pid}.00000001.tmp`]: 25 * HOUR,
    // These stay: somebody may be at work on them, or they are not ours.
    [`memories.json.${gone}.00000002.tmp`]: 1_000,
    [`memories.json.${process.ppid}.00000003.tmp`]: HOUR,
    'notes.tmp': 99 * HOUR,
    'memories.json.bak.tmp': 99 * HOUR,
  };
  for (const [path, age] of Object.entries(drafts)) {
    await writeFile(join(memory, path), 'half of it');
    const then = new Date(Date.now() - age);
    await utimes(join(memory, path), then, then);
  }
  const left = async (): Promise<string[]> =>
    (await readdir(memory, { recursive: true })).filter((name) => name.endsWith('.tmp')).sort();
  return { root, memory, left };
}

const KEPT = [
  `memories.json.${gone}.00000002.tmp`,
  `memories.json.${process.ppid}.00000003.tmp`,
  'memories.json.bak.tmp',
  'notes.tmp',
].sort();

const LEARNED = { type: 'agent-learnings', agent: 'fullstack-dev' } as const;

describe('drafts of processes that died while they wrote', () => {
  it('are removed by whoever writes beside them, if they are old', async () => {
    const { root, left } = await project();
    const memory = await openProject(root);
    const { entry } = await memory.remember({ ...LEARNED, text: 'The zebra queue is drained at midnight' });
    await memory.update(entry.id, undefined, { text: 'The zebra queue is drained at noon' });
    await memory.close();
    expect(await left()).toEqual(KEPT);
  });

  it('stay in read-only mode, and where a folder is a link', async () => {
    const { root, memory, left } = await project();
    const before = await left();
    const reader = await openProject(root, { writes: false });
    await reader.status();
    await reader.close();
    expect(await left()).toEqual(before);
    const other = await temporaryFolder(afterAll);
    await writeFiles(other, { '_bmad/_memory/decisions-log.md': '' });
    await symlink(join(memory, 'agent-learnings'), join(other, '_bmad/_memory/agent-learnings'));
    const writer = await openProject(other);
    await writer.remember({ ...LEARNED, text: 'The zebra queue is drained at midnight' });
    await writer.close();
    expect(await left()).toEqual(before);
  });
});
