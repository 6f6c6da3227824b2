import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { agentFile, type TestRepository } from '../../../tests/support/git-repository.ts';
import { GitMachine } from '../../../tests/support/git-machine.ts';
import { list } from '../catalogue/list.ts';
import { sourcesAdd, sourcesList } from './sources.ts';

let machine: GitMachine;
let team: TestRepository;

beforeEach(async () => {
  machine = await GitMachine.make((cleanUp) => onTestFinished(cleanUp));
  team = await machine.repository('team', {
    'agents/ada.md': agentFile('ada'),
    'agents/bob.md': agentFile('bob'),
    'packs/x/agents/eve.md': agentFile('eve'),
    'docs/readme.txt': 'nothing to serve',
  });
});

describe('sources add', () => {
  it('fetches, pins and names the source, says what it brings, and serves it from then on', async () => {
    const { data, answer } = await machine.ok(sourcesAdd, { source: `${team.source}#main` });
    const commit = team.head;
    expect(data).toMatchObject({
      source: { state: 'served', commit, from: machine.config, files: 4 },
      config: machine.config,
      contents: [{ kind: 'agent', count: 2 }],
      names: ['ada', 'bob'],
    });
    expect(answer.body).toBe(
      [
        `Added: ${team.source}#main, pinned to ${commit.slice(0, 12)} in ${machine.lock}`,
        `Named in ${machine.config}`,
        'It has 2 agents.',
        'For example: ada, bob',
      ].join('\n'),
    );
    expect(answer.note).toBe('Running servers serve it from the next call.');
    expect(await readFile(machine.config, 'utf8')).toBe(`git = [\n  "${team.source}#main",\n]\n`);
    expect(Object.keys(await machine.pins())).toEqual([`${team.source}#main`]);
    expect((await machine.ok(list, { what: 'agents', detail: 'brief' })).answer.body).toContain('ada');
  });

  it('writes into the files of the project for --level project', async () => {
    const { data } = await machine.ok(sourcesAdd, {
      source: `${team.source}#main:/packs/x`,
      level: 'project',
    });
    expect(data).toMatchObject({ config: machine.projectConfig, names: ['eve'] });
    expect(Object.keys(await machine.pins(machine.projectLock))).toEqual([`${team.source}#main:/packs/x`]);
    expect(existsSync(machine.config)).toBe(false);
    expect(existsSync(machine.lock)).toBe(false);
  });

  it('changes nothing when the source is there already', async () => {
    await machine.ok(sourcesAdd, { source: team.source });
    const before = await readFile(machine.config, 'utf8');
    const first = await machine.pins();
    await team.commit({ 'agents/ada.md': agentFile('ada', 'New') });
    const { data } = await machine.ok(sourcesAdd, { source: team.source });
    expect(data['source']).toMatchObject({ state: 'update waits', commit: first[team.source]?.commit });
    expect(await readFile(machine.config, 'utf8')).toBe(before);
    expect(await machine.pins()).toEqual(first);
  });

  it('keeps everything else in the file', async () => {
    const before = [
      '# Settings of ada',
      'page_size = 7 # few',
      '',
      '# Our team',
      'git = [',
      '  # the first of all',
      '  "git+file:///srv/old.git", # keep',
      "  'git+file:///srv/lit\"eral.git'",
      '] # all of them',
      '',
      '[notes]',
      'git = ["not a source"]',
      '',
    ].join('\n');
    await machine.write(machine.config, before);
    await machine.ok(sourcesAdd, { source: team.source });
    expect(await readFile(machine.config, 'utf8')).toBe(
      before.replace(
        `'git+file:///srv/lit"eral.git'\n`,
        `'git+file:///srv/lit"eral.git',\n  ${JSON.stringify(team.source)},\n`,
      ),
    );
  });

  it.each([
    ['a table', '[notes]\nx = 1\n', (line: string) => `${line}[notes]\nx = 1\n`],
    ['no line end', 'page_size = 7', (line: string) => `page_size = 7\n${line}`],
  ])('makes the list in a file with %s', async (_what, before, after) => {
    await machine.write(machine.config, before);
    await machine.ok(sourcesAdd, { source: team.source });
    expect(await readFile(machine.config, 'utf8')).toBe(after(`git = [\n  "${team.source}",\n]\n`));
  });

  it('adds to sources that are written as one text', async () => {
    await machine.write(machine.config, 'git = "git+file:///srv/old.git" # one\nlog_level = "error"\n');
    await machine.ok(sourcesAdd, { source: team.source });
    expect(await readFile(machine.config, 'utf8')).toBe(
      `git = [\n  "git+file:///srv/old.git",\n  "${team.source}",\n] # one\nlog_level = "error"\n`,
    );
  });

  it('leaves a file alone that it cannot change safely, and says what to write', async () => {
    const before = 'git.list = ["x"]\n';
    await machine.write(machine.config, before);
    const error = await machine.fail(sourcesAdd, { source: team.source });
    expect(error).toMatchObject({
      code: 'unavailable',
      message: `${machine.config} cannot be changed safely. It was left unchanged.`,
      hint: expect.stringContaining(`"${team.source}"`) as string,
    });
    expect(await readFile(machine.config, 'utf8')).toBe(before);
    await machine.write(machine.config, 'git = [\n');
    expect(await machine.fail(sourcesAdd, { source: team.source })).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(machine.config) as string,
      hint: 'Repair the file, then try again.',
    });
    expect(await readFile(machine.config, 'utf8')).toBe('git = [\n');
  });

  it('touches neither file when the lock file cannot be understood', async () => {
    await machine.write(machine.lock, 'oops');
    const error = await machine.fail(sourcesAdd, { source: team.source });
    expect(error.message).toContain(`The lock file ${machine.lock} is not valid`);
    expect(existsSync(machine.config)).toBe(false);
    expect(await readFile(machine.lock, 'utf8')).toBe('oops');
  });

  it('never writes credentials down, nor repeats them', async () => {
    const error = await machine.fail(sourcesAdd, {
      source: 'git+https://ada:topsecret-1@git.test/org/team.git',
    });
    expect(error).toMatchObject({
      code: 'invalid_input',
      message: 'Credentials are not written into a configuration file.',
      hint: expect.stringContaining('credential helper') as string,
    });
    for (const source of [
      'https://ada:topsecret-1@',
      'git+https://ada:topsecret-1@git.test',
      'git+https://ada:top/secret-1@git.test/x.git',
      'git+http://ada:topsecret-1@git.test/x.git',
      'ftp://topsecret-1@git.test/x.git',
      'git+ssh://git:topsecret-1@git.test/x.git',
    ]) {
      const refused = await machine.fail(sourcesAdd, { source });
      expect(refused.code).toBe('invalid_input');
      expect(JSON.stringify([refused.text, refused.subject])).not.toMatch(/secret-1/);
    }
    expect(existsSync(machine.config)).toBe(false);
  });

  it.each([
    ['team', 'it has no transport; use https, ssh or file'],
    ['git+http://git.test/x.git', 'http is not encrypted; use https'],
    ['ext::sh -c id', 'it has a space'],
    ['git+ext::id', 'the transport "ext" is not allowed; use https, ssh or file'],
    ['git+file:///srv/../etc', 'its path has dot segments'],
    ['git+https://git.test/org/x.git#--upload-pack=id', 'cannot be the name of a branch, tag or commit'],
    ['git+https://git.test/org/x.git#main:../up', 'the subpath must begin with a slash'],
    ['git+https://git.test/org/x.git#main:/a/../b', 'the subpath has dot segments'],
  ])('refuses %s before anything runs', async (source, reason) => {
    const { env, calls } = await machine.loggingGit();
    const error = await machine.fail(sourcesAdd, { source }, { env: machine.env(env) });
    expect(error.code).toBe('invalid_input');
    expect(error.message.replace('the address has a space', 'it has a space')).toContain(reason);
    expect(error.hint).toContain('git+https://host/org/repo.git');
    expect(await calls()).toEqual([]);
  });

  it('does not add what has no BMAD content, and names the way to the right folder', async () => {
    const error = await machine.fail(sourcesAdd, { source: `${team.source}#main:/docs` });
    expect(error).toMatchObject({
      code: 'not_found',
      message: `${team.source}#main:/docs: it has no BMAD content, so it was not added.`,
      hint: expect.stringContaining('#ref:/subpath') as string,
    });
    expect((await machine.ok(sourcesList)).data['sources']).toEqual([]);
    expect(existsSync(machine.lock)).toBe(false);
  });

  it('says what is wrong with a ref, a subpath or a repository that is not there', async () => {
    const failed = async (tail: string): Promise<string> =>
      (await machine.fail(sourcesAdd, { source: tail })).text;
    expect(await failed(`${team.source}#mainn`)).toMatch(/no branch or tag "mainn"[^]*Did you mean: main\?/);
    expect(await failed(`${team.source}#main:/pack`)).toContain('no folder "pack"');
    expect(await failed(team.source.replace('team', 'tram'))).toContain('no such repository');
    expect(existsSync(machine.config)).toBe(false);
  });

  it('needs a project for --level project', async () => {
    const error = await machine.fail(
      sourcesAdd,
      { source: team.source, level: 'project' },
      { cwd: machine.home },
    );
    expect(error).toMatchObject({
      code: 'invalid_input',
      message: 'There is no project here to add a source to.',
      steps: [{ operation: 'sources_add', args: { level: 'user' }, open: ['source'] }],
    });
  });
});
