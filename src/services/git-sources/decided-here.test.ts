import { readFile, rename } from 'node:fs/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { agentFile, type TestRepository } from '../../../tests/support/git-repository.ts';
import { GitMachine } from '../../../tests/support/git-machine.ts';
import { list } from '../../operations/catalogue/list.ts';
import {
  sourcesAdd,
  sourcesClear,
  sourcesList,
  sourcesUpdate,
} from '../../operations/git-sources/sources.ts';
import { sourcesApprove, sourcesDiff } from '../../operations/git-sources/sources-review.ts';

let machine: GitMachine;
let team: TestRepository;

beforeEach(async () => {
  machine = await GitMachine.make((cleanUp) => onTestFinished(cleanUp));
  team = await machine.repository('team', { 'agents/ada.md': agentFile('ada') });
});

const agents = async (): Promise<string> => (await machine.ok(list, { what: 'agents' })).answer.body;
const states = async (): Promise<unknown[]> =>
  ((await machine.ok(sourcesList)).data['sources'] as { state: string }[]).map(({ state }) => state);

describe('a source that a project lists', () => {
  it('is not served because it happens to be in the cache, only after the user fetched it there', async () => {
    await machine.ok(sourcesUpdate, {}, { flags: { git: [`${team.source}#main`] } });
    const pins = await readFile(machine.lock, 'utf8');
    await rename(machine.lock, `${machine.lock}.away`);
    await machine.write(machine.projectConfig, `git = ["${team.source}#main"]\n`);
    await machine.write(machine.projectLock, pins);
    expect(await agents()).not.toContain('ada');
    expect(await states()).toEqual(['not fetched']);
    await machine.ok(sourcesUpdate);
    expect(await agents()).toContain('ada');
  });

  it('is the user’s own where the user names it too: the project’s lock file has no say', async () => {
    const source = `${team.source}#main`;
    await machine.write(machine.config, `git = ["${source}"]\n`);
    await machine.ok(sourcesUpdate);
    await team.commit({ 'agents/zorro.md': agentFile('zorro') });
    await machine.ok(sourcesUpdate);
    // The project claims the version that waits for the user's approval.
    const { sources } = JSON.parse(await readFile(machine.lock, 'utf8')) as {
      sources: Record<string, { commit: string; digest: string }>;
    };
    const copies = (await machine.ok(sourcesList, { copies: true })).data['copies'] as {
      commit: string;
      digest: string;
    }[];
    const newer = copies.find(({ commit }) => commit !== sources[source]?.commit);
    await machine.write(machine.projectConfig, `git = ["${source}"]\n`);
    await machine.write(
      machine.projectLock,
      JSON.stringify({ version: 1, sources: { [source]: { commit: newer?.commit, digest: newer?.digest } } }),
    );
    expect(await agents()).not.toContain('zorro');
    expect(await agents()).toContain('ada');
    expect(await states()).toEqual(['update waits']);
  });

  it('is served as this user has approved it, wherever its lock file was moved (X-09)', async () => {
    const source = `${team.source}#main`;
    await machine.write(machine.projectConfig, `git = ["${source}"]\n`);
    await machine.ok(sourcesUpdate);
    const before = await readFile(machine.projectLock, 'utf8');
    const commit = await team.commit({ 'agents/zorro.md': agentFile('zorro') });
    await machine.ok(sourcesUpdate);
    const copies = (await machine.ok(sourcesList, { copies: true })).data['copies'] as {
      commit: string;
      digest: string;
    }[];
    const newer = copies.find((copy) => copy.commit === commit);
    // By an agent that may edit files, or by a colleague who has approved it elsewhere.
    const moved = JSON.stringify({ version: 1, sources: { [source]: { commit, digest: newer?.digest } } });
    await machine.write(machine.projectLock, moved);
    expect(await agents()).not.toContain('zorro');
    expect((await machine.ok(sourcesList)).answer.body).toContain('approved elsewhere');
    const { reviews } = (await machine.ok(sourcesDiff)).data as { reviews: { to: string }[] };
    expect(reviews).toMatchObject([{ to: commit }]);
    await machine.ok(sourcesApprove, { commit });
    expect(await agents()).toContain('zorro');
    expect(await readFile(machine.projectLock, 'utf8')).toBe(moved);
    // Nor does it go back unasked.
    await machine.write(machine.projectLock, before);
    expect(await agents()).toContain('zorro');
    expect(await states()).toEqual(['update waits']);
  });

  it('keeps its copy when the cache is cleared from another folder', async () => {
    await machine.write(machine.projectConfig, `git = ["${team.source}#main"]\n`);
    await machine.ok(sourcesUpdate);
    const elsewhere = { cwd: machine.home, flags: {} };
    expect((await machine.ok(sourcesClear, {}, elsewhere)).data).toMatchObject({ copies: 0, bytes: 0 });
    expect(await agents()).toContain('ada');
  });
});

describe('the configuration file', () => {
  it('loses no source when several are added at once', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const repositories = await Promise.all(
      names.map((name) => machine.repository(name, { [`agents/${name}.md`]: agentFile(name) })),
    );
    await Promise.all(repositories.map(({ source }) => machine.ok(sourcesAdd, { source })));
    const text = await readFile(machine.config, 'utf8');
    expect(repositories.filter(({ source }) => !text.includes(source))).toEqual([]);
  });
});
