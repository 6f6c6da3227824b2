import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRunning } from '../../src/base/files/leftovers.ts';
import { repository, temporaryFolder } from '../support/app.ts';
import { agentFile, makeRepository, type TestRepository } from '../support/git-repository.ts';
import { installOf } from '../support/installs.ts';
import { installPackedPackage } from '../support/packed-package.ts';
import { bmad, runToEnd } from '../support/programs.ts';
import { copyFolder } from '../support/folders.ts';
import { ofUsual } from '../support/how-much.ts';

const { folder, home, env } = await installPackedPackage(afterAll);
const parent = await temporaryFolder(afterAll);
let team: TestRepository;

beforeAll(async () => {
  copyFolder(join(repository, 'tests', 'fixtures', 'library'), folder);
  team = await makeRepository(parent, 'team', { 'agents/ada.md': agentFile('ada') });
});

type Answers = Record<string, unknown>;

/** Runs a program of a user of the package. It has to end by itself, and print nothing but its one line. */
async function answersOf(file: string, ...args: string[]): Promise<Answers> {
  const { code, stdout, stderr } = await runToEnd(process.execPath, [join(folder, file), ...args], {
    cwd: folder,
    env,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout.toString('utf8')) as Answers;
}

/** The names the command line lists, which is another way to the same content. */
async function listed(what: string, project: string): Promise<string[]> {
  const args = ['list', what, '--json', '--limit', '200', '--project', project, '--discovery', 'local'];
  const { stdout } = await bmad(args, { cwd: folder, env });
  const { items } = JSON.parse(stdout.toString('utf8')) as { items: { name: string }[] };
  return items.map(({ name }) => name);
}

describe.each(
  ofUsual([
    ['6.12.0', 'architecture'],
    ['6.0.0-alpha.22', 'create-architecture'],
  ] as const),
)('the library on an install of %s', (version, workflow) => {
  let project: string;
  let answers: Answers;
  beforeAll(async () => {
    project = await installOf(version);
    const cache = join(parent, `cache-${version}`);
    answers = await answersOf('use.mjs', project, `${team.source}#main`, cache, home);
  });

  it('starts nothing when it is loaded, and is one library for import and require', () => {
    expect(answers).toMatchObject({
      started: [],
      exports: ['BmadError', 'BmadServer', 'GitSourceResolver', 'openBmad'],
      same: true,
      warnings: [],
    });
  });

  it('lists what the command line lists, and loads all of it byte for byte', async () => {
    expect(answers['agents']).toEqual(await listed('agents', project));
    expect(answers['workflows']).toEqual(await listed('workflows', project));
    expect(answers).toMatchObject({ exact: true, unlike: 0, described: answers['agents'] });
    expect(answers['files']).toBeGreaterThan(200);
    expect(answers['file']).toMatchObject({
      relativePath: 'bmm/config.yaml',
      mimeType: 'application/x-yaml',
    });
  });

  it('tells who an agent is', () => {
    expect(answers['agent']).toMatchObject({
      name: 'architect',
      kind: 'agent',
      module: 'bmm',
      source: 'project',
      uri: expect.stringMatching(/^bmad:\/\/.+\.md$/) as string,
    });
    expect(answers['metadata']).toMatchObject({
      name: 'architect',
      displayName: 'Winston',
      module: 'bmm',
      persona: expect.stringMatching(/architect/i) as string,
      menuItems: expect.arrayContaining([expect.stringMatching(/^CA: /)]) as string[],
      workflows: expect.arrayContaining([workflow]) as string[],
    });
    expect(answers['nobody']).toBeNull();
    expect(answers['hits']).toContain(workflow);
  });

  it('delivers an agent with its context', () => {
    expect(answers['activation']).toMatchObject({
      kind: 'agent',
      text: true,
      problems: [],
      context: { projectRoot: answers['project'], originInfo: { kind: 'project' } },
    });
  });

  it('fails with typed errors that say what to do', () => {
    expect(answers['missing']).toEqual({
      ours: true,
      code: 'not_found',
      hint: expect.stringContaining('listAgents()') as string,
      suggestions: expect.arrayContaining(['architect']) as string[],
    });
    expect(answers['outside']).toMatchObject({ ours: true, code: 'forbidden' });
    expect(answers['closed']).toMatchObject([[], { ours: true, code: 'cancelled' }]);
  });

  it('fetches, lists and clears git sources', async () => {
    const commit = team.head;
    expect(answers).toMatchObject({
      git: agentFile('ada'),
      spec: { protocol: 'ssh', host: 'host', org: 'org', repo: 'repo', ref: 'v1', subpath: 'a/b' },
      cache: [{ source: `${team.source}#main`, commit, files: 1, here: true }],
      team: [['ada'], { name: 'ada', source: 'git', commit }],
      cleared: [],
    });
  });
});

describe('the library for programs that use require', () => {
  it('serves what is built in, and ends with a fetch that hangs', async () => {
    const project = join(parent, 'empty');
    await mkdir(project);
    const { pid, ...answers } = await answersOf('use.cjs', project, join(parent, 'cache-cjs'), home);
    expect(answers).toEqual({
      started: [],
      agents: ['analyst', 'architect', 'dev', 'pm', 'ux-designer'],
      closed: { ours: true, code: 'cancelled' },
    });
    // What was killed counts until the system has cleared it away, which may take a while.
    await expect.poll(() => isRunning(pid as number), { timeout: 120_000 }).toBe(false);
    expect(await readdir(project)).toEqual([]);
  });
});
