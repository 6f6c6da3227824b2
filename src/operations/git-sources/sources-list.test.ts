import { readFile, rename } from 'node:fs/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { agentFile } from '../../../tests/support/git-repository.ts';
import { GitMachine } from '../../../tests/support/git-machine.ts';
import { list } from '../catalogue/list.ts';
import { sourcesList, sourcesUpdate } from './sources.ts';

let machine: GitMachine;

beforeEach(async () => {
  machine = await GitMachine.make((cleanUp) => onTestFinished(cleanUp));
});

describe('sources list', () => {
  it('says how to add a source when there is none', async () => {
    const { data, answer } = await machine.ok(sourcesList);
    expect(data).toEqual({ sources: [], warnings: [] });
    expect(answer).toEqual({
      body: 'No git sources are configured.',
      steps: [
        { operation: 'sources_add', args: { source: 'git+https://host/org/repo.git#ref' }, why: 'Add one' },
      ],
    });
  });

  it('shows what is served, since when, from where, and where it is pinned', async () => {
    const team = await machine.repository('team', { 'agents/ada.md': agentFile('ada') });
    const outside = { flags: { git: [`${team.source}#main`] } };
    expect((await machine.ok(sourcesList, {}, outside)).answer.body).toBe(
      `- ${team.source}#main\n  not fetched\n  from flag --git, pinned in ${machine.lock}`,
    );
    await machine.ok(list, { what: 'agents' }, outside);
    const commit = team.head;
    const { data, answer } = await machine.ok(sourcesList, { copies: true }, outside);
    const pin = (await machine.pins())[`${team.source}#main`];
    expect(data['sources']).toEqual([
      {
        source: `${team.source}#main`,
        state: 'served',
        from: 'flag --git',
        lockFile: machine.lock,
        commit,
        digest: pin?.digest,
        files: 1,
        bytes: agentFile('ada').length,
        fetchedAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        checkedAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
        skipped: [],
      },
    ]);
    expect(pin?.commit).toBe(commit);
    expect(answer.body.replace(/[0-9a-f]{32}/, '<key>')).toBe(
      [
        `- ${team.source}#main`,
        `  served: commit ${commit.slice(0, 12)}, 1 file, fetched just now, remote asked just now`,
        `  from flag --git, pinned in ${machine.lock}`,
        '',
        'In the cache (1):',
        `- ${team.source}#main ${commit.slice(0, 12)}, 1 file, 0.1 kB`,
        `  ${machine.cache}/trees/<key>/team`,
      ].join('\n'),
    );
    expect(answer.note).toBe('1 source.');
    expect(answer.steps).toEqual([{ operation: 'sources_update', why: 'Ask the remotes' }]);
  });

  it('lists the sources of all layers in their order, each once, with those that are malformed', async () => {
    const at = (name: string): string => `git+file:///srv/${name}.git`;
    await machine.write(machine.config, `git = ["${at('mine')}", "${at('env')}"]\n`);
    await machine.write(machine.projectConfig, `git = ["${at('shared')}", "http://plain.test/x.git"]\n`);
    const { data, answer } = await machine.ok(
      sourcesList,
      {},
      {
        flags: { git: [at('flag')] },
        env: machine.env({ BMAD_GIT: `${at('env')} ${at('flag')}` }),
      },
    );
    const sources = data['sources'] as { source: string; from: string; lockFile: string }[];
    expect(sources.map(({ source, from, lockFile }) => [source, from, lockFile])).toEqual([
      [at('flag'), 'flag --git', machine.lock],
      [at('env'), 'environment BMAD_GIT', machine.lock],
      [at('shared'), `project file ${machine.projectConfig}`, machine.projectLock],
      [at('mine'), `user file ${machine.config}`, machine.lock],
    ]);
    expect(data['warnings']).toEqual([
      `Git source "http://plain.test/x.git" is not valid: http is not encrypted; use https. It is ignored (project file ${machine.projectConfig}).`,
    ]);
    expect(answer.body).toContain('Warning: Git source "http://plain.test/x.git"');
  });

  it('reports a lock file that cannot be understood, leaves it as it is, and serves the other level', async () => {
    const mine = await machine.repository('mine', { 'agents/ada.md': agentFile('ada') });
    const shared = await machine.repository('shared', { 'agents/bob.md': agentFile('bob') });
    await machine.write(machine.config, `git = ["${mine.source}"]\n`);
    await machine.write(machine.projectConfig, `git = ["${shared.source}"]\n`);
    await machine.ok(sourcesUpdate);
    const broken = '{"version": 1, "sources": {"x": {"commit": "abc"}}}\n<<<<<<< HEAD\n';
    await machine.write(machine.projectLock, broken);
    const { data, answer } = await machine.ok(sourcesList);
    expect((data['sources'] as { state: string }[]).map(({ state }) => state)).toEqual([
      'not served',
      'served',
    ]);
    expect(answer.body).toContain(
      `trouble: The lock file ${machine.projectLock} is not valid; its git sources are not served.`,
    );
    const names = (await machine.ok(list, { what: 'agents', detail: 'brief' })).answer.body;
    expect(names).toContain('ada');
    expect(names).not.toContain('bob');
    expect((await machine.ok(sourcesUpdate)).data).toMatchObject({
      ok: false,
      results: [
        { outcome: 'failed', hint: expect.stringContaining('Restore it from version control') as string },
        { outcome: 'unchanged' },
      ],
    });
    expect(await readFile(machine.projectLock, 'utf8')).toBe(broken);
  });

  it('keeps serving when the remote is gone, and says since when', async () => {
    const team = await machine.repository('team', { 'agents/ada.md': agentFile('ada') });
    const outside = { flags: { git: [team.source] } };
    await machine.ok(sourcesUpdate, {}, outside);
    await rename(team.folder, `${team.folder}.gone`);
    const { answer, failed } = await machine.ok(sourcesUpdate, {}, outside);
    expect(failed).toBe(true);
    expect(answer.body).toMatch(/FAILED: .*no such repository.* The copy of [0-9a-f]{12} is still served\./);
    const { body } = (await machine.ok(sourcesList, {}, outside)).answer;
    expect(body).toContain('served: commit');
    expect(body).toMatch(/trouble: .*team\.git: there is no such repository/);
    expect((await machine.ok(list, { what: 'agents', detail: 'brief' }, outside)).answer.body).toContain(
      'ada',
    );
  });
});
