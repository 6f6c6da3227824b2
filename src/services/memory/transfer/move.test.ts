import { mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tests/support/app.ts';
import { openConfigured, type EngineSettings } from '../open.ts';
import { kitIn } from '../../../../tests/support/kit.ts';
import { folderAt } from '../../../kit/home.ts';
import { preparePlace } from '../place.ts';
import type { Analyser } from '../../../meaning/analyser.ts';
import { moveIntoProject } from './move.ts';

const engine: EngineSettings = {
  engine: 'jsonl',
  journal: 'auto',
  qdrantUrl: undefined,
  qdrantApiKey: undefined,
};
const analyser: Analyser = { id: 'test', terms: (text) => text.toLowerCase().split(/\W+/) };
const id = '00000000-0000-5000-8000-000000000001';

async function remembered(): Promise<{ root: string; state: string; elsewhere: string; from: string }> {
  const [root, state, elsewhere] = await Promise.all([1, 2, 3].map(() => temporaryFolder(afterAll)));
  if (root === undefined || state === undefined || elsewhere === undefined) throw new Error('no folder');
  const from = folderAt((await kitIn(root, state)).places.memories.user);
  await preparePlace({ folder: from, owner: 'user' });
  const store = await openConfigured(engine, from, { project: 'bmad-x', analyser });
  const at = '2026-05-04T12:00:00.000Z';
  await store.upsert([
    { type: 'stories', id, agent: 'dev', text: 'Kept in the folder of the user', tags: [], at },
  ]);
  await store.close();
  return { root, state, elsewhere, from };
}

const moveOf = async (root: string, state: string) =>
  moveIntoProject({ kit: await kitIn(root, state), engine, analyser });

describe('a move into a project whose folders lead elsewhere', () => {
  it.each([
    ['_bmad-output', '', ''],
    ['_bmad-output', '', 'not-there'],
    ['_bmad-output/.memory', '_bmad-output', ''],
    ['_bmad-output/.memory', '_bmad-output', 'not-there'],
  ])('is refused for %s (in "%s", to "%s"), and nothing is lost', async (link, parent, target) => {
    const { root, state, elsewhere, from } = await remembered();
    await mkdir(join(root, parent), { recursive: true });
    await symlink(join(elsewhere, target), join(root, link));
    const [obstacle = '', ...more] = (await (await moveOf(root, state))?.obstacles()) ?? [];
    expect(obstacle).toContain(`${link} leads outside the project`);
    expect(more).toEqual([]);
    expect(await readdir(elsewhere)).toEqual([]);
    expect(await readdir(from)).toContain('.bmad-memory.jsonl');
    expect(await readdir(join(state, 'memory'))).toHaveLength(1);
  });

  it.each([
    ['_bmad', '', ''],
    ['_bmad', '', 'not-there'],
    ['_bmad/_memory', '_bmad', ''],
    ['_bmad/_memory', '_bmad', 'not-there'],
  ])('leaves %s alone (in "%s", to "%s"), and stays in the project', async (link, parent, target) => {
    const { root, state, elsewhere } = await remembered();
    await mkdir(join(root, parent), { recursive: true });
    await symlink(join(elsewhere, target), join(root, link));
    const move = await moveOf(root, state);
    expect(move).toMatchObject({ count: 1, to: '_bmad-output/.memory/.bmad-memory' });
    await move?.copy();
    expect(await readdir(join(root, '_bmad-output/.memory/.bmad-memory'))).toContain('.bmad-memory.jsonl');
    expect(await readdir(elsewhere)).toEqual([]);
  });

  it('goes through a link that stays inside the project', async () => {
    const { root, state } = await remembered();
    await mkdir(join(root, 'docs/memory'), { recursive: true });
    await mkdir(join(root, '_bmad'));
    await symlink(join(root, 'docs/memory'), join(root, '_bmad/_memory'));
    await (await moveOf(root, state))?.copy();
    expect(await readdir(join(root, 'docs/memory/.bmad-memory'))).toContain('.bmad-memory.jsonl');
  });
});
