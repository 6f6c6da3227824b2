import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { activate } from '../../src/operations/activation/activate.ts';
import { doctor } from '../../src/operations/server/doctor.ts';
import { list } from '../../src/operations/catalogue/list.ts';
import { read } from '../../src/operations/catalogue/read.ts';
import { openSession } from '../support/operations.ts';
import { packageSource } from '../support/package-skills.ts';
import { knowledge, loose, repository } from '../support/repositories.ts';
import { marketplace, skill } from '../support/skill-files.ts';

const MODULE = 'code: acme\nname: Acme\ndescription: For Acme\nmodule_version: 2.1.0\n';

describe('a repository in each shape', () => {
  const shapes: [string, Record<string, string>, Record<string, string>][] = [
    [
      'an install',
      {
        '_bmad/_config/manifest.yaml':
          'installation:\n  version: 6.12.0\nmodules:\n  - name: acme\n    version: 1.0.0\n',
        '_bmad/_config/skill-manifest.csv':
          'canonicalId,name,description,module,path\nship,ship,Ships,acme,_bmad/acme/ship/SKILL.md\n',
        ...skill('.claude/skills/ship', 'workflow'),
      },
      { 'workflow acme/ship': 'Text of .claude/skills/ship' },
    ],
    [
      'a bare module',
      {
        'module.yaml': MODULE,
        ...skill('ship', 'workflow'),
        ...skill('agents/otto', 'agent'),
        ...knowledge('ship'),
      },
      {
        'agent acme/otto': 'Text of agents/otto',
        'knowledge acme/flaky': 'says ship',
        'workflow acme/ship': 'Text of ship',
      },
    ],
    [
      'a bare module in skills',
      { 'skills/module.yaml': MODULE, ...skill('skills/ship') },
      { 'skill acme/ship': 'Text of skills/ship' },
    ],
    [
      'a repository of modules',
      {
        'src/acme-skills/module.yaml': MODULE,
        ...skill('src/acme-skills/ship'),
        'src/other/module.yaml': 'code: other\n',
        ...skill('src/other/ship'),
      },
      { 'skill acme/ship': 'Text of src/acme-skills/ship', 'skill other/ship': 'Text of src/other/ship' },
    ],
    [
      'a marketplace',
      {
        ...marketplace(
          { name: 'one', source: './plugins/one', version: '1.2.3', description: 'The first' },
          { name: 'two', source: './plugins/two', skills: ['./plugins/two/skills/ship'] },
        ),
        ...skill('plugins/one/skills/ship', 'workflow'),
        ...knowledge('plugins/one/skills/ship'),
        'plugins/one/agents/otto.md': loose('otto', 'Otto of one'),
        ...skill('plugins/two/skills/ship', 'workflow'),
        ...skill('plugins/two/skills/unlisted'),
        'plugins/two/agents/otto.md': loose('otto', 'Otto of two'),
      },
      {
        'agent one/otto': 'Otto of one',
        'agent two/otto': 'Otto of two',
        'knowledge one/flaky': 'says plugins/one',
        'workflow one/ship': 'Text of plugins/one/skills/ship',
        'workflow two/ship': 'Text of plugins/two/skills/ship',
      },
    ],
    [
      'skills in a folder',
      {
        'README.md': '# Skills',
        'AGENTS.md': 'For agents',
        ...skill('skills/review'),
        ...skill('skills/plan/bmad-ship', 'workflow'),
        ...skill('skills/otto', 'agent'),
        ...knowledge('skills/review'),
      },
      {
        'agent team/otto': 'Text of skills/otto',
        'knowledge team/flaky': 'says skills/review',
        'skill team/review': 'Text of skills/review',
        'workflow team/ship': 'Text of skills/plan/bmad-ship',
      },
    ],
    [
      'skills at the top',
      { ...skill('review'), ...skill('otto', 'agent'), ...skill('team') },
      {
        'agent team/otto': 'Text of otto',
        'skill team/review': 'Text of review',
        'skill team/team': 'Text of team',
      },
    ],
    [
      'one skill',
      {
        'SKILL.md': '---\nname: polish\ndescription: Polishes\n---\n\nText of polish\n',
        'references/more.md': 'More',
      },
      { 'skill team/polish': 'Text of polish' },
    ],
    [
      'loose agents',
      {
        'agents/reviewer.md': loose('Reviewer', 'Reads code'),
        'writer.md': loose('Writer', 'Writes text'),
        'workflows/ship.md': loose('ship', 'Ships it'),
      },
      {
        'agent team/reviewer': 'Reads code',
        'agent team/writer': 'Writes text',
        'workflow team/ship': 'Ships it',
      },
    ],
  ];

  it.each(shapes)('%s', async (_shape, files, things) => {
    const team = await repository(files);
    expect(await team.warnings()).toEqual([]);
    expect(await team.things()).toEqual(Object.keys(things).sort());
    for (const [thing, text] of Object.entries(things)) {
      const [kind = '', name = ''] = thing.split(' ');
      if (kind === 'knowledge')
        expect((await team.session.ok(read, { target: name })).data['text']).toContain(text);
      else expect(await team.started(name)).toContain(text);
    }
    expect((await team.session.ok(doctor, { handshake: false })).data).toMatchObject({
      ok: true,
      problems: [],
    });
  });
});

describe('a repository in two shapes', () => {
  it('of skills and loose agents is one module', async () => {
    const team = await repository({
      ...skill('skills/review'),
      'skills/shared/rules.md': 'The rules',
      'agents/otto.md': loose('Otto', 'Otto speaks'),
      'workflows/ship.md': loose('ship', 'Ships it'),
    });
    expect(await team.things()).toEqual(['agent team/otto', 'skill team/review', 'workflow team/ship']);
    expect(await team.started('otto')).toContain('Otto speaks');
    expect(await team.started('team/review')).toContain('Text of skills/review');
    const { data } = await team.session.ok(read, { target: 'bmad://team/skills/shared/rules.md' });
    expect(data['text']).toBe('The rules');
    expect((await team.modules()).map(({ name }) => name)).toContain('team');
  });

  it('with an install and modules of its own has both, the install first', async () => {
    const team = await repository({
      '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.12.0\n',
      ...skill('_bmad/house/ship'),
      'src/module.yaml': MODULE,
      ...skill('src/polish'),
      ...skill('src/ship'),
    });
    expect(await team.things()).toEqual(['skill acme/polish', 'skill acme/ship', 'skill house/ship']);
    expect(await team.started('ship')).toContain('Text of _bmad/house/ship');
    expect(await team.started('acme/ship')).toContain('Text of src/ship');
  });

  it('of a marketplace and skills elsewhere keeps version and description', async () => {
    const plugin = { name: 'acme', version: '1.2.3', description: 'The first', skills: ['./skills/ship'] };
    const team = await repository({ ...marketplace(plugin), ...skill('skills/ship', 'workflow') });
    const module = (await team.modules()).find(({ name }) => name === 'acme');
    expect(module).toMatchObject({ title: 'acme 1.2.3', description: 'The first; 1 workflow' });
    const { data } = await team.session.ok(activate, { name: 'ship' });
    expect(data['context']).toMatchObject({ moduleInfo: { name: 'acme', version: '1.2.3' } });
  });

  it('with a marketplace and other things serves what the marketplace lists', async () => {
    const team = await repository({
      ...marketplace({ name: 'acme', source: './', skills: ['./skills/ship'] }),
      ...skill('skills/ship'),
      ...skill('skills/draft'),
    });
    expect(await team.things()).toEqual(['skill acme/ship']);
  });
});

describe('a repository', () => {
  it('without anything of BMAD is told', async () => {
    const team = await repository({
      'README.md': '# Shop',
      'AGENTS.md': 'For agents',
      'src/main.c': '',
      'package.json': '{}',
    });
    expect(await team.things()).toEqual([]);
    expect(await team.warnings()).toEqual(['there is no BMAD content in it']);
  });

  it.each([
    ['{', 'is not valid JSON'],
    ['[]', 'has no list "plugins"'],
    ['{"plugins":{}}', 'has no list "plugins"'],
  ])('with the broken marketplace %s is read by the other rules', async (text, reason) => {
    const team = await repository({ '.claude-plugin/marketplace.json': text, ...skill('skills/review') });
    expect(await team.warnings()).toEqual([`.claude-plugin/marketplace.json ${reason}`]);
    expect(await team.things()).toEqual(['skill team/review']);
    expect(await team.started('review')).toContain('Text of skills/review');
  });

  it('keeps what git and package managers store to itself', async () => {
    const team = await repository({
      ...skill('skills/review'),
      ...skill('node_modules/x'),
      'agents/a.md': loose('A', 'a'),
    });
    expect(await team.things()).toEqual(['agent team/a', 'skill team/review']);
    for (const target of [
      'bmad://.git/config',
      'bmad://team/.git/config',
      'bmad://team/node_modules/x/SKILL.md',
    ])
      expect((await team.session.fail(read, { target })).code).toBe('not_found');
    const { data } = await team.session.ok(list, { what: 'resources', pattern: '**' });
    expect(JSON.stringify(data)).not.toMatch(/\.git\/|node_modules/);
  });

  it.each([
    ['skills', 'team'],
    ['.claude', 'team'],
    ['My skills!', 'My-skills'],
    ['docs', 'docs'],
  ])('in a folder called %s gives a module %s', async (folder, module) => {
    const team = await repository(
      { 'review/SKILL.md': skill('review')['review/SKILL.md'] ?? '' },
      `team/${folder}`,
    );
    expect(await team.things()).toEqual([`skill ${module}/review`]);
  });

  it('that is the package of BMAD gives its modules once, with their version', async () => {
    const bmad = await realpath(dirname(packageSource));
    const session = await openSession(afterAll, { flags: { paths: [bmad] } });
    const { data } = await session.ok(doctor, { handshake: false });
    const counts = { agents: 5, workflows: 22, tasks: 0, skills: 2, deprecated: 21 };
    expect(data['origins']).toMatchObject([
      { root: bmad, ...counts },
      { kind: 'package', ...counts },
    ]);
    expect(data).toMatchObject({
      ok: true,
      problems: [],
      warnings: [],
      modules: ['bmm 6.12.0', 'core 6.12.0'],
    });
    const text = String((await session.ok(activate, { name: 'bmad-agent-architect' })).data['text']);
    expect(text).toContain('Winston');
    expect((await session.ok(read, { target: 'bmad://bmm/module.yaml' })).data['origin']).toBe('Path');
  });
});
