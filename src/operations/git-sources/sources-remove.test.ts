import { readFile } from 'node:fs/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { agentFile, type TestRepository } from '../../../tests/support/git-repository.ts';
import { GitMachine } from '../../../tests/support/git-machine.ts';
import { list } from '../catalogue/list.ts';
import { sourcesAdd, sourcesList, sourcesRemove } from './sources.ts';

let machine: GitMachine;
let team: TestRepository;

beforeEach(async () => {
  machine = await GitMachine.make((cleanUp) => onTestFinished(cleanUp));
  team = await machine.repository('team', { 'agents/ada.md': agentFile('ada') });
  await team.git('tag', 'v1');
  await team.git('push', '--quiet', 'origin', '--tags');
});

describe('sources remove', () => {
  it('takes the source out of the configuration and the lock file by the name of its repository', async () => {
    await machine.ok(sourcesAdd, { source: `${team.source}#main` });
    const { data, answer } = await machine.ok(sourcesRemove, { source: 'team' });
    expect(data).toEqual({
      source: `${team.source}#main`,
      config: machine.config,
      lockFile: machine.lock,
    });
    expect(answer.body).toBe(`Removed ${team.source}#main from ${machine.config} and ${machine.lock}`);
    expect(answer.note).toBe('Running servers leave it out from the next call.');
    expect(await machine.pins()).toEqual({});
    expect((await machine.ok(sourcesList)).data['sources']).toEqual([]);
    expect((await machine.ok(list, { what: 'agents', detail: 'brief' })).answer.body).not.toContain('ada');
  });

  it('keeps everything else in the file', async () => {
    const before = `# mine\ngit = [\n  # one\n  "git+file:///srv/a.git", # a\n  "${team.source}", # team\n  "git+file:///srv/b.git"\n] # all\n\n[notes]\nx = "git = [1]"\n`;
    await machine.write(machine.config, before);
    await machine.ok(sourcesRemove, { source: team.source });
    expect(await readFile(machine.config, 'utf8')).toBe(before.replace(`  "${team.source}", # team\n`, ''));
  });

  it.each([
    ['the last of a line', (source: string) => `git = ["git+file:///srv/a.git", "${source}"]\n`],
    ['the first of a line', (source: string) => `git = ["${source}", "git+file:///srv/a.git"]\n`],
    ['one of a text', (source: string) => `git = "${source} git+file:///srv/a.git"\n`],
    ['written in another way', (source: string) => `"git" = ['git+file:///srv/a.git','${source}/',]\n`],
  ])('takes out %s', async (_what, text) => {
    await machine.write(machine.config, text(team.source));
    await machine.ok(sourcesRemove, { source: 'team' });
    const sources = (await machine.ok(sourcesList)).data['sources'] as { source: string }[];
    expect(sources.map(({ source }) => source)).toEqual(['git+file:///srv/a.git']);
  });

  it('takes out one with credentials without showing them', async () => {
    await machine.write(machine.config, 'git = ["git+https://ada:topsecret-1@git.test/org/x.git#main"]\n');
    const { answer, data } = await machine.ok(sourcesRemove, { source: 'org/x' });
    expect(JSON.stringify([answer, data])).not.toContain('topsecret');
    expect(await readFile(machine.config, 'utf8')).toBe('git = []\n');
  });

  it('suggests the nearest when nothing has the name', async () => {
    expect(await machine.fail(sourcesRemove, { source: 'team' })).toMatchObject({
      code: 'not_found',
      message: 'There is no git source "team".',
      steps: [{ operation: 'sources_add', open: ['source'] }],
    });
    await machine.ok(sourcesAdd, { source: team.source });
    expect(await machine.fail(sourcesRemove, { source: 'teem' })).toMatchObject({
      code: 'not_found',
      suggestions: expect.arrayContaining(['team']) as string[],
      hint: `Configured: ${team.source}.`,
    });
    expect(
      (await machine.fail(sourcesRemove, { source: 'http://ada:topsecret-1@git.test/x' })).text,
    ).not.toContain('topsecret');
  });

  it('asks which one is meant when the name fits several', async () => {
    await machine.ok(sourcesAdd, { source: `${team.source}#main` });
    await machine.ok(sourcesAdd, { source: `${team.source}#v1` });
    expect(await machine.fail(sourcesRemove, { source: 'team' })).toMatchObject({
      code: 'ambiguous',
      message: '"team" is the name of 2 git sources.',
      hint: `Write the full name of one: ${team.source}#main, ${team.source}#v1.`,
    });
    await machine.ok(sourcesRemove, { source: 'team#v1' });
    expect(Object.keys(await machine.pins())).toEqual([`${team.source}#main`]);
  });

  it('cannot take back a flag or a variable, and says where to', async () => {
    for (const [outside, from] of [
      [{ flags: { git: [team.source] } }, 'flag --git'],
      [{ env: machine.env({ BMAD_GIT: team.source }) }, 'environment BMAD_GIT'],
    ] as const) {
      expect(await machine.fail(sourcesRemove, { source: 'team' }, outside)).toMatchObject({
        code: 'invalid_input',
        message: `${team.source} is not in a configuration file: it comes from ${from}.`,
        hint: 'Remove it there.',
      });
    }
  });

  it('changes nothing when the lock file cannot be understood', async () => {
    await machine.ok(sourcesAdd, { source: team.source });
    const before = await readFile(machine.config, 'utf8');
    await machine.write(machine.lock, '{}');
    expect((await machine.fail(sourcesRemove, { source: 'team' })).message).toContain('is not valid');
    expect(await readFile(machine.config, 'utf8')).toBe(before);
    expect(await readFile(machine.lock, 'utf8')).toBe('{}');
  });
});
