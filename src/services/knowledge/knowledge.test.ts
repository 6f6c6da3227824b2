import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { installOf, type Version } from '../../../tests/support/installs.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import type { Knowledge } from './knowledge.ts';
import { ofUsual } from '../../../tests/support/how-much.ts';

async function knowledgeIn(project: string): Promise<Knowledge> {
  const context = await contextIn(project, { flags: { project, discovery: 'local' } });
  return (await context.workspace()).knowledge();
}

async function knowledgeOf(files: Record<string, string>): Promise<Knowledge> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, {
    '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.2.0\nmodules:\n  - m\n',
    ...files,
  });
  return knowledgeIn(folder);
}

const SKILL = '---\nname: x\ndescription: Does a thing\n---\n# X\n';
const INDEX = 'id,name,description,tags,tier,fragment_file\n';

describe('the domains of an install', () => {
  it.each(
    ofUsual<[Version, Record<string, number>, string[]]>([
      ['6.0.0-alpha.7', { testarch: 21 }, []],
      ['6.0.0-alpha.22', { testarch: 32, gametest: 16 }, ['bmm']],
    ]),
  )('are its indexes and data folders (%s)', async (version, indexes, folders) => {
    const domains = await (await knowledgeIn(await installOf(version))).domains();
    const counts = new Map(domains.map(({ name, fragments }) => [name, fragments.length]));
    expect(Object.fromEntries(Object.keys(indexes).map((name) => [name, counts.get(name)]))).toEqual(indexes);
    for (const name of folders) expect(counts.get(name)).toBeGreaterThan(0);
    expect([...counts.keys()]).toEqual([...counts.keys()].sort());
  });

  it('are the data of the packs in version 4', async () => {
    const knowledge = await knowledgeIn(await installOf('4.44.3'));
    const domains = await knowledge.domains();
    expect(domains.map(({ name }) => name)).toContain('bmad-core');
    const { fragments } = await knowledge.domain('bmad-core');
    expect(fragments.map(({ id }) => id)).toContain('bmad-kb');
    expect(fragments.find(({ id }) => id === 'bmad-kb')?.description).toBeTruthy();
  });
});

describe('knowledge that skills carry', () => {
  it('counts once where several have copies, and is known by both names', async () => {
    const copy = (skill: string): Record<string, string> => ({
      [`_bmad/tea/${skill}/SKILL.md`]: SKILL,
      [`_bmad/tea/${skill}/resources/tea-index.csv`]: `${INDEX}one,One,First,"a,b",core,knowledge/one.md\ntwo,Two,Second,b,core,knowledge/missing.md\n`,
      [`_bmad/tea/${skill}/resources/knowledge/one.md`]: '# One\n',
    });
    const knowledge = await knowledgeOf({ ...copy('bmad-tea-a'), ...copy('bmad-tea-b') });
    expect((await knowledge.domains()).map(({ name }) => name)).toEqual(['tea']);
    const domain = await knowledge.domain('testarch');
    expect(domain.fragments).toEqual([
      {
        id: 'one',
        title: 'One',
        description: 'First',
        tags: ['a', 'b'],
        path: '_bmad/tea/bmad-tea-a/resources/knowledge/one.md'.slice('_bmad/'.length),
      },
    ]);
  });

  it('does not leave its folder, and a broken index costs nothing but itself', async () => {
    const knowledge = await knowledgeOf({
      '_bmad/m/bmad-s/SKILL.md': SKILL,
      '_bmad/m/bmad-s/data/bad-index.csv': 'id,fragment_file\n"never closed',
      '_bmad/m/bmad-s/data/own.md': '# Own\n',
      '_bmad/m/bmad-t/SKILL.md': SKILL,
      '_bmad/m/bmad-t/resources/out-index.csv': `${INDEX}x,X,,,,../../bmad-s/SKILL.md\ny,Y,,,,/etc/passwd\n`,
    });
    const domains = await knowledge.domains();
    expect(domains.flatMap(({ fragments }) => fragments.map(({ path }) => path))).not.toContain(
      'm/bmad-s/SKILL.md',
    );
    expect((await knowledge.domain('s')).fragments.map(({ id }) => id)).toContain('own');
  });

  it('is qualified by its module where two modules have a domain of that name', async () => {
    const knowledge = await knowledgeOf({
      '_bmad/m/bmad-s/SKILL.md': SKILL,
      '_bmad/m/bmad-s/data/a.md': 'a',
      '_bmad/n/bmad-s/SKILL.md': SKILL,
      '_bmad/n/bmad-s/data/b.md': 'b',
    });
    expect((await knowledge.domains()).map(({ name }) => name)).toEqual(['m/s', 'n/s']);
    expect((await refusal(() => knowledge.domain('s'))).code).toBe('ambiguous');
    expect((await knowledge.domain('N/s')).fragments[0]?.id).toBe('b');
  });
});

describe('topics across domains', () => {
  it.each(
    ofUsual<[Version, string, string[], string[]]>([
      [
        '6.0.0-alpha.7',
        'patterns',
        ['test-healing-patterns', 'bmm/workflows/3-solutioning/architecture/architecture-patterns.yaml'],
        ['step-05-patterns'],
      ],
      [
        '6.0.0-alpha.22',
        'patterns',
        ['test-healing-patterns', 'agent-menu-patterns', 'architecture-patterns.yaml'],
        ['step-07-patterns'],
      ],
      ['6.0.0-alpha.7', 'architecture', ['fixture-architecture'], ['checklist', 'instructions']],
      ['6.0.4', 'Architecture', ['project-types.csv'], ['workflow']],
      ['4.44.3', 'testarch', ['test-levels-framework', 'test-priorities-matrix'], ['test-design']],
      ['4.44.3', 'tea', ['test-levels-framework'], []],
    ]),
  )('are gathered from what %s has: %s', async (version, topic, some, none) => {
    const knowledge = await knowledgeIn(await installOf(version));
    const { name, fragments } = await knowledge.domain(topic);
    const ids = fragments.map(({ id }) => id);
    expect(name).toBe(topic.toLowerCase());
    expect(ids).toEqual(expect.arrayContaining(some));
    expect(ids.filter((id) => none.includes(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { title, description } of fragments) expect([title, description]).not.toContain('');
  });

  it('are not what a release does not have, and no domain gives way to one', async () => {
    const knowledge = await knowledgeIn(await installOf('6.12.0'));
    expect(await refusal(() => knowledge.domain('patterns'))).toMatchObject({ code: 'not_found' });
    expect((await knowledge.domain('architecture')).module).toBe('bmm');
  });
});
