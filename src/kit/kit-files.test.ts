import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { KIT_FILES, writeFiles } from '../../tests/support/kit-project.ts';
import { entry, living } from '../../tests/support/kit-entries.ts';
import { agentsNamed, namesOf, readKitAgents } from './agents.ts';
import { kitIn } from '../../tests/support/kit.ts';
import { KitFiles } from './memories/read-all.ts';
import { writeKitFiles } from './memories/write.ts';

async function project(files: Readonly<Record<string, string>> = KIT_FILES): Promise<string> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, files);
  return folder;
}

describe('the identity of a project', () => {
  it('is what its project-context.yaml says', async () => {
    expect(await kitIn(await project())).toMatchObject({
      family: 'bmad',
      app: 'bmad-corner-shop',
      user: 'ada-field',
      problems: [],
    });
  });

  it.each([
    [{ '_bmad/_memory/project-context.yaml': 'project: {name: From Seed}' }, 'bmad-from-seed', 0],
    [{ '_bmad/bmm/config.yaml': 'project_name: Installed\n' }, 'bmad-installed', 0],
    [{ '_bmad/bmm/config.yaml': 'project_name: B\n', 'project-context.yaml': '' }, 'bmad-b', 0],
    [{ 'project-context.yaml': 'project:\n  name: Alpha\n  x: [\n' }, 'bmad-alpha', 1],
    [
      {
        'project-context.yaml':
          'project:\n<<<<<<< HEAD\n  name: "Client Alpha"\n=======\n  name: "Client A"\n>>>>>>> other\n  type: web\n',
      },
      'bmad-client-alpha',
      1,
    ],
  ])('of %j is %s (B-01, B-14)', async (files, app, problems) => {
    const kit = await kitIn(await project(files));
    expect(kit.app).toBe(app);
    expect(kit.problems).toHaveLength(problems);
  });

  it.each([
    { 'project-context.yaml': '' },
    { 'project-context.yaml': 'project: [' },
    { '_grimoire/x.md': '' },
  ])('is never the same for two projects that have no name: %j (B-01)', async (files) => {
    const both = await Promise.all([1, 2].map(async () => kitIn(await project(files))));
    expect(both[0]?.app).not.toBe(both[1]?.app);
  });

  it('is the name of the folder where no file says it', async () => {
    const folder = join(await temporaryFolder(afterAll), 'My Shop');
    await mkdir(folder);
    expect(await kitIn(folder)).toMatchObject({ app: 'bmad-my-shop', memory: undefined });
  });

  it('has no memory folder that lies elsewhere', async () => {
    const [folder, elsewhere] = [await project({ '_bmad/x': '' }), await temporaryFolder(afterAll)];
    await symlink(elsewhere, join(folder, '_bmad/_memory'));
    const kit = await kitIn(folder);
    expect(kit.memory).toBe(join(folder, '_bmad-output/.memory'));
    expect(kit.problems.join()).toContain('points outside the project');
  });
});

describe('the agents of a project', () => {
  it('have several names each', async () => {
    const agents = await readKitAgents(await kitIn(await project()));
    expect(agents.map(({ id }) => id)).toEqual(['fullstack-dev', 'project-navigator']);
    expect(agentsNamed(agents, 'ATLAS')[0]).toEqual({
      id: 'project-navigator',
      tag: 'atlas',
      display: 'Atlas',
      learnings: 'project-knowledge',
    });
    expect(agentsNamed(agents, 'stack').flatMap(namesOf)).toEqual(['fullstack-dev', 'stack']);
    expect(agentsNamed(agents, 'nobody')).toEqual([]);
  });

  it('are known anew when one is written, replaced or removed, and nothing is read again otherwise', async () => {
    const folder = await project();
    const kit = await kitIn(folder);
    const file = (name: string): string => join(folder, '_bmad/_config/custom/agents', `${name}.md`);
    const names = async () => (await readKitAgents(kit)).map(({ id, tag }) => `${id} ${tag ?? ''}`.trim());
    const before = await names();
    await writeFile(file('cook'), 'AGENT_TAG=chef\n');
    expect(await names()).toEqual(['cook chef', ...before]);
    await writeFile(file('cook'), 'AGENT_TAG=baker\n');
    expect(await names()).toEqual(['cook baker', ...before]);
    await expect.poll(async () => (await readKitAgents(kit)) === (await readKitAgents(kit))).toBe(true);
    await rename(file('cook'), file('waiter'));
    expect(await names()).toEqual([...before, 'waiter baker']);
    await rm(join(folder, '_bmad/_config/custom'), { recursive: true });
    expect(await names()).not.toContain('waiter baker');
  });

  it('have their learnings gathered from all files', async () => {
    const { entries } = await new KitFiles(await kitIn(await project())).read();
    const learnt = (name: string) =>
      entries
        .filter(
          ({ type, names, source }) =>
            type === 'agent-learnings' && names.includes(name) && source.includes('learnings'),
        )
        .map(({ text, date, line }) => [text, date, line]);
    expect(learnt('atlas')).toEqual([['Le dépôt principal est un monorepo', '2026-01-05', 1]]);
    expect(learnt('stack')).toEqual([
      ['Vider le cache Redis entre les tests du panier', '2026-02-10', 5],
      ['Sans date du tout', undefined, 6],
      ['Une puce avec astérisque', '2026-02-20', 7],
    ]);
  });
});

describe('the files of a project', () => {
  it('are read whole, without examples and placeholders', async () => {
    const { entries, problems } = await new KitFiles(await kitIn(await project())).read();
    expect(problems).toEqual([]);
    expect(entries.map(({ type, agent, text, date }) => [type, agent, text.split('\n')[0], date])).toEqual([
      ['shared-context', 'project', 'Projet', undefined],
      ['shared-context', 'project', 'Conventions', undefined],
      ['decisions', 'architect', 'PostgreSQL — ACID', '2026-02-11'],
      ['decisions', 'team', '[ARCH] Sessions sans état, jetons renouvelés', '2026-02-27'],
      ['decisions', 'team', 'Choix du bus', undefined],
      ['agent-learnings', 'fullstack-dev', 'Vider le cache Redis entre les tests du panier', '2026-02-10'],
      ['agent-learnings', 'fullstack-dev', 'Sans date du tout', undefined],
      ['agent-learnings', 'fullstack-dev', 'Une puce avec astérisque', '2026-02-20'],
      ['agent-learnings', 'project-navigator', 'Le dépôt principal est un monorepo', '2026-01-05'],
      ['failures', 'dev', 'CC-FAIL — Livré sans lancer les tests', '2026-02-10'],
      ['failures', 'team', 'Une ligne ancienne', '2026-02-01'],
      [
        'agent-learnings',
        'fullstack-dev',
        'Le module panier nécessite un verrou optimiste',
        '2026-03-01T10:00:00.000001',
      ],
      ['decisions', 'atlas', 'Textes du SDK, autre forme', '2026-03-02T10:00:00'],
    ]);
    expect(entries.every(({ source }) => source.startsWith('_bmad/_memory/'))).toBe(true);
  });

  it('are read again when one has changed, and only then', async () => {
    const folder = await project();
    const files = new KitFiles(await kitIn(folder));
    const before = await files.read();
    expect(await files.read()).toBe(before);
    await writeFile(join(folder, '_bmad/_memory/decisions-log.md'), '- [2026-03-03] Une seule décision\n');
    const after = await files.read();
    expect(
      after.entries.filter(({ type, source }) => type === 'decisions' && source.endsWith('.md')),
    ).toHaveLength(1);
  });

  it.each(['[{"id": 1, "mem', '{bad json'])('are told and left alone when broken: %s', async (broken) => {
    const folder = await project({ ...KIT_FILES, '_bmad/_memory/memories.json': broken });
    const kit = await kitIn(folder);
    const { problems } = await new KitFiles(kit).read();
    expect(problems).toEqual(['_bmad/_memory/memories.json was left unchanged: it is not valid JSON.']);
    const written = await writeKitFiles(
      { kit, agents: [], locks: join(folder, 'locks'), living },
      entry({}),
      {
        mode: 'local',
      },
    );
    expect(written.problems).toEqual(problems);
    expect(await readFile(join(folder, '_bmad/_memory/memories.json'), 'utf8')).toBe(broken);
  });

  it('say who decided when one of two copies says it', async () => {
    const memories = [
      { memory: 'NATS  for events', metadata: { agent: 'architect', type: 'decisions' } },
      { memory: 'Tabs', metadata: { agent: 'dev', type: 'shared-context' } },
    ];
    const folder = await project({
      '_bmad/_memory/decisions-log.md': '- [2026-05-04] NATS for events\n- [2026-05-04] Tabs\n',
      '_bmad/_memory/memories.json': JSON.stringify(memories),
    });
    const { entries } = await new KitFiles(await kitIn(folder)).read();
    expect(
      entries.filter(({ type }) => type === 'decisions').map(({ text, agent }) => [text, agent]),
    ).toEqual([
      ['NATS for events', 'architect'],
      ['Tabs', 'team'],
      ['NATS  for events', 'architect'],
    ]);
  });

  it('tell of a link that leads out as soon as it is there, and no longer than that', async () => {
    const folder = await project({ 'elsewhere/x.md': '', 'project/_bmad/_memory/x.md': '' });
    const memory = join(folder, 'project/_bmad/_memory');
    const files = new KitFiles(await kitIn(join(folder, 'project')));
    expect((await files.read()).problems).toEqual([]);
    await symlink(join(folder, 'elsewhere/x.md'), join(memory, 'decisions-log.md'));
    await symlink(join(folder, 'elsewhere'), join(memory, 'agent-learnings'));
    expect((await files.read()).problems).toEqual([
      expect.stringMatching(/^_bmad\/_memory\/agent-learnings: .*outside/),
      expect.stringMatching(/^_bmad\/_memory\/decisions-log.md: .*outside/),
    ]);
    await rm(join(memory, 'decisions-log.md'));
    await rm(join(memory, 'agent-learnings'));
    expect((await files.read()).problems).toEqual([]);
  });

  it('of the other family are read too', async () => {
    const kit = await kitIn(
      await project({
        '_grimoire/_memory/failure-museum.jsonl':
          '{"failure_id":"FM-001","timestamp":"2026-04-01T10:00:00","title":"Wrong port","agents":["dev"],"description":"8080 was taken","tags":["net"]}\nnot json\n',
        '_grimoire/_memory/failure-museum.md': '## FM-001 — Wrong port\n\n- **Date**: 2026-04-01\n',
      }),
    );
    const { entries, problems } = await new KitFiles(kit).read();
    expect(entries).toMatchObject([
      { type: 'failures', agent: 'dev', text: 'Wrong port\n8080 was taken', tags: ['net'] },
    ]);
    expect(problems).toHaveLength(1);
  });
});
