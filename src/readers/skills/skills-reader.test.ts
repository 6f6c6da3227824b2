import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contentRoot, temporaryFolder } from '../../../tests/support/app.ts';
import type { Origin } from '../../model/record.ts';
import { packageSource } from '../../sources/built-in.ts';
import { folderTree } from '../../sources/tree.ts';
import type { Reading } from '../reader.ts';
import { skillsReader } from './index.ts';

const LIMIT = 1_000_000;

async function readFolder(files: Record<string, string | Buffer>): Promise<Reading> {
  const root = await temporaryFolder(afterAll);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const origin: Origin = { kind: 'package', displayName: 'Test', root, priority: 9 };
  return skillsReader.read({ origin, tree: folderTree(root, LIMIT) });
}

const MODULE = 'code: acme\nname: "Acme"\n';
const skill = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Does ${name}\n${more}---\n# ${name}\n`;

describe('the skills reader on BMAD 6.12.0', async () => {
  const { records, modules, problems } = await skillsReader.read(await packageSource(contentRoot, LIMIT));
  const named = (name: string) => records.find((record) => record.name === name);

  it('finds every skill and no problem', () => {
    expect(problems).toEqual([]);
    const count = (kind: string): number =>
      records.filter((record) => record.kind === kind && record.deprecated === undefined).length;
    expect([count('agent'), count('workflow'), count('skill')]).toEqual([5, 22, 2]);
    expect(records.filter(({ deprecated }) => deprecated !== undefined).length).toBe(21);
    expect(
      records
        .filter(({ kind, deprecated }) => kind === 'skill' && deprecated === undefined)
        .map(({ name }) => name),
    ).toEqual(['bmad-customize', 'bmad-help']);
  });

  it('describes an agent as its module does', () => {
    expect(named('bmad-agent-architect')).toMatchObject({
      kind: 'agent',
      moduleName: 'bmm',
      displayName: 'Winston',
      title: 'System Architect',
      icon: '🏗️',
      bmadRelativePath: 'bmm/agents/bmad-agent-architect/SKILL.md',
      moduleRelativePath: 'agents/bmad-agent-architect/SKILL.md',
      exists: true,
      status: 'verified',
      bmadVersion: '6.12.0',
      aliases: ['architect', 'Winston', 'System Architect'],
    });
    expect(named('bmad-agent-architect')?.phase).toBeUndefined();
  });

  it('takes the phase from the folder, else from the help rows', () => {
    expect([
      named('bmad-prd')?.phase,
      named('bmad-build')?.phase,
      named('bmad-review')?.phase,
      named('bmad-build-auto')?.phase,
    ]).toEqual(['plan', 'ship', 'anytime', 'ship']);
  });

  it('knows menu codes and display names', () => {
    expect(named('bmad-sprint-planning')?.aliases).toEqual([
      'sprint-planning',
      'Sprint Planning',
      'SP',
      'SS',
      'Sprint Status',
    ]);
    expect(named('bmad-brainstorming')?.displayName).toBe('Brainstorming');
  });

  it('knows what each old name forwards to', () => {
    const forwards = Object.fromEntries(
      records.flatMap(({ name, deprecated }) =>
        deprecated === undefined
          ? []
          : [[name, `${deprecated.successor ?? '-'} ${deprecated.intent ?? ''}`.trim()]],
      ),
    );
    expect(forwards).toMatchInlineSnapshot(`
      {
        "bmad-checkpoint-preview": "bmad-walkthrough",
        "bmad-create-architecture": "bmad-architecture create intent",
        "bmad-create-prd": "bmad-prd create intent",
        "bmad-create-story": "-",
        "bmad-dev-auto": "bmad-build-auto",
        "bmad-dev-story": "-",
        "bmad-document-project": "bmad-project-context",
        "bmad-domain-research": "bmad-deep-recon domain type",
        "bmad-edit-prd": "bmad-prd update intent",
        "bmad-editorial-review": "bmad-review structure + prose lenses",
        "bmad-editorial-review-prose": "bmad-review prose lens",
        "bmad-editorial-review-structure": "bmad-review structure lens",
        "bmad-generate-project-context": "bmad-project-context",
        "bmad-market-research": "bmad-deep-recon market type",
        "bmad-quick-dev": "bmad-build",
        "bmad-review-adversarial-general": "bmad-review adversarial lens",
        "bmad-review-edge-case-hunter": "bmad-review edge-case lens",
        "bmad-review-verification-gap": "bmad-review verification-gap lens",
        "bmad-sprint-status": "bmad-sprint-planning status view",
        "bmad-technical-research": "bmad-deep-recon technical type",
        "bmad-validate-prd": "bmad-prd validate intent",
      }
    `);
  });

  it('reads modules with settings, roster and help', () => {
    expect(modules.map(({ code, name, version }) => [code, name, version])).toEqual([
      ['bmm', 'BMad Method', '6.12.0'],
      ['core', 'BMad Core Module', '6.12.0'],
    ]);
    const [bmm, core] = modules;
    expect(core?.settings.map(({ key }) => key)).toEqual([
      'user_name',
      'project_name',
      'communication_language',
      'document_output_language',
      'output_folder',
    ]);
    expect(bmm?.settings).toContainEqual({
      key: 'planning_artifacts',
      default: '{output_folder}/planning-artifacts',
      result: '{project-root}/{value}',
      proposed: true,
    });
    expect(bmm?.roster.map(({ name }) => name)).toEqual(['Mary', 'John', 'Sally', 'Winston', 'Amelia']);
    expect(
      bmm?.help
        .filter(({ required }) => required)
        .map(({ skill: id }) => id)
        .sort(),
    ).toEqual([
      'bmad-architecture',
      'bmad-build',
      'bmad-create-epics-and-stories',
      'bmad-prd',
      'bmad-sprint-planning',
    ]);
  });
});

describe('the skills reader on other folders', () => {
  it('leaves alone what is not a module', async () => {
    expect(await readFolder({ 'notes/SKILL.md': skill('notes'), 'README.md': '#' })).toEqual({
      records: [],
      modules: [],
      problems: [],
    });
  });

  it('does not look below a skill, nor into folders with a dot or an underscore', async () => {
    const { records } = await readFolder({
      'acme/module.yaml': MODULE,
      'acme/one/SKILL.md': skill('one'),
      'acme/one/assets/inner/SKILL.md': skill('inner'),
      'acme/_drafts/two/SKILL.md': skill('two'),
      'acme/.hidden/three/SKILL.md': skill('three'),
    });
    expect(records.map(({ name }) => name)).toEqual(['one']);
  });

  it('tells agents by their table, not by their name', async () => {
    const { records } = await readFolder({
      'acme/module.yaml': MODULE,
      'acme/bmad-agent-builder/SKILL.md': skill('bmad-agent-builder'),
      'acme/bmad-agent-builder/customize.toml': '[workflow]\n',
      'acme/murat/SKILL.md': skill('murat'),
      'acme/murat/customize.toml': '# a comment\n[agent]\nname = "Murat"\ntitle = "Test Architect"\n',
      'acme/plain/SKILL.md': skill('plain'),
    });
    expect(records.map(({ name, kind, displayName }) => [name, kind, displayName])).toEqual([
      ['bmad-agent-builder', 'workflow', undefined],
      ['murat', 'agent', 'Murat'],
      ['plain', 'skill', undefined],
    ]);
  });

  it('turns bad files into problems and keeps the rest', async () => {
    const { records, problems, modules } = await readFolder({
      'acme/module.yaml': 'code: [acme\nname: x',
      'acme/module-help.csv': 'module,skill\n"unterminated',
      'acme/bad/SKILL.md': '---\nname: "bad\ndescription: x\n---\n',
      'acme/agent/SKILL.md': skill('agent'),
      'acme/agent/customize.toml': '[agent]\nname = broken\n',
      'acme/latin/SKILL.md': Buffer.from('---\nname: latin\ndescription: caf\xe9\n---\n', 'latin1'),
      'acme/good/SKILL.md': `\uFEFF${skill('good').replaceAll('\n', '\r\n')}`,
    });
    expect(records.map(({ name, kind }) => [name, kind])).toEqual([
      ['agent', 'agent'],
      ['good', 'skill'],
      ['latin', 'skill'],
    ]);
    expect(modules.map(({ code }) => code)).toEqual(['acme']);
    expect(problems.map(({ file, line }) => [file, line])).toEqual([
      ['acme/agent/customize.toml', 2],
      ['acme/bad/SKILL.md', 4],
      ['acme/module-help.csv', 2],
      ['acme/module.yaml', 2],
    ]);
  });

  it('repairs help rows that lost a column', async () => {
    const { modules } = await readFolder({
      'acme/module.yaml': MODULE,
      'acme/module-help.csv':
        'module,skill,display-name,menu-code,description,action,args,phase,preceded-by,followed-by,required,output-location,outputs\n' +
        'Acme,acme-one,One,ON,"Does, well",,anytime,,,false,docs,report\n' +
        'Acme,acme-two,Two,TW,Two,run,[path],1-analysis,a,b,TRUE,docs,report\n',
    });
    expect(modules[0]?.help).toMatchObject([
      {
        skill: 'acme-one',
        description: 'Does, well',
        action: '',
        args: '',
        phase: 'anytime',
        required: false,
        outputLocation: 'docs',
        outputs: 'report',
      },
      {
        skill: 'acme-two',
        action: 'run',
        args: '[path]',
        phase: '1-analysis',
        precededBy: 'a',
        followedBy: 'b',
        required: true,
      },
    ]);
  });
});
