import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { agentFile, type TestRepository } from '../../../tests/support/git-repository.ts';
import { GitMachine } from '../../../tests/support/git-machine.ts';
import { list } from '../catalogue/list.ts';
import { sourcesClear, sourcesList, sourcesRemove, sourcesUpdate } from './sources.ts';

let machine: GitMachine;
let team: TestRepository;

beforeEach(async () => {
  machine = await GitMachine.make((cleanUp) => onTestFinished(cleanUp));
  team = await machine.repository('team', { 'agents/ada.md': agentFile('ada') });
  await machine.write(machine.config, `git = ["${team.source}"]\n`);
  await machine.ok(sourcesUpdate);
});

const copies = async (): Promise<string[]> =>
  ((await machine.ok(sourcesList, { copies: true })).data['copies'] as { source: string }[]).map(
    ({ source }) => source,
  );
const agents = async (): Promise<string> =>
  (await machine.ok(list, { what: 'agents', detail: 'brief' })).answer.body;

describe('sources clear', () => {
  it('removes what nothing uses and keeps what is served and what waits', async () => {
    const other = await machine.repository('other', { 'agents/bob.md': agentFile('bob') });
    const byHost = { flags: { git: [other.source] } };
    await machine.ok(sourcesUpdate, {}, byHost);
    await team.commit({ 'agents/ada.md': agentFile('ada', 'Next') });
    await machine.ok(sourcesUpdate);
    expect(await copies()).toEqual([other.source, team.source, team.source]);
    // Whatever is pinned may be in use by a server that a host started with arguments of its own.
    expect((await machine.ok(sourcesClear)).data['copies']).toBe(0);
    await machine.ok(sourcesRemove, { source: 'other' });
    const { data, answer } = await machine.ok(sourcesClear);
    expect(data['copies']).toBe(1);
    expect(data['bytes']).toBeGreaterThan(0);
    expect(answer.body).toMatch(/^Removed 1 copy, [\d.]+ kB\.$/);
    expect(await copies()).toEqual([team.source, team.source]);
    expect((await machine.ok(sourcesClear)).data).toEqual({ copies: 0, bytes: 0, configured: 1 });
  });

  it('removes everything with --all and fetches nothing by itself; the lock file stays', async () => {
    const pins = await machine.pins();
    const { env, calls } = await machine.loggingGit();
    const { data } = await machine.ok(sourcesClear, { all: true }, { env: machine.env(env) });
    expect(data['copies']).toBe(1);
    expect(await copies()).toEqual([]);
    expect(await calls()).toEqual([]);
    for (const part of ['trees', 'repositories', 'sightings', 'work'])
      expect(await readdir(join(machine.cache, part))).toEqual([]);
    expect(await machine.pins()).toEqual(pins);
    expect((await machine.ok(sourcesList)).answer.body).toContain('not fetched: commit');
    expect(await agents()).toContain('ada');
    expect(await machine.pins()).toEqual(pins);
  });

  it('keeps the copies while the remote is gone, unless told to remove all', async () => {
    await rename(team.folder, `${team.folder}.gone`);
    await machine.ok(sourcesClear);
    expect(await agents()).toContain('ada');
    await machine.ok(sourcesClear, { all: true });
    expect(await agents()).not.toContain('ada');
    expect(await agents()).toContain('analyst');
  });

  it('has nothing to do without a cache', async () => {
    await rename(machine.cache, `${machine.cache}.lost`);
    expect((await machine.ok(sourcesClear, { all: true })).answer.body).toBe('Removed 0 copies, 0.0 kB.');
  });
});
