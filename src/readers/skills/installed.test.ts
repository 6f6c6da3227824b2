import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { discoverSources } from '../../sources/discover.ts';
import type { Reading } from '../reader.ts';
import { installedSkillsReader } from './index.ts';

const skill = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Does ${name}\n---\n${more}`;
const MANIFEST = 'installation:\n  version: 6.8.0\nmodules:\n  - name: tea\n    version: 1.27.2\n';
const HEADER = 'canonicalId,name,description,module,path\n';

async function readProject(files: Record<string, string>): Promise<Reading> {
  const project = await temporaryFolder(afterAll);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(project, path, '..'), { recursive: true });
    await writeFile(join(project, path), text);
  }
  const { sources } = await discoverSources({
    mode: 'local',
    project,
    paths: [],
    root: undefined,
    git: [],
    home: join(project, 'home'),
    maxFileBytes: 1_000_000,
  });
  const [source] = sources;
  if (source === undefined) throw new Error('no source was found');
  return installedSkillsReader.read(source);
}

describe('skills of an install', () => {
  it('takes module and phase from the manifest and the file from the assistant’s folder', async () => {
    const { records, modules } = await readProject({
      '_bmad/_config/manifest.yaml': MANIFEST,
      '_bmad/_config/skill-manifest.csv': `${HEADER}"bmad-tea","bmad-tea","x","tea","_bmad/tea/agents/bmad-tea/SKILL.md"\n"acme-plan","acme-plan","x","tea","_bmad/tea/2-plan/acme-plan/SKILL.md"\n`,
      '.claude/skills/bmad-tea/SKILL.md': skill('bmad-tea'),
      '.claude/skills/bmad-tea/customize.toml': '[agent]\nname = "Murat"\ntitle = "Test Architect"\n',
      '.agents/skills/bmad-tea/SKILL.md': skill('bmad-tea', 'a second copy'),
      '.claude/skills/acme-plan/SKILL.md': skill('acme-plan'),
      '.claude/skills/acme-plan/customize.toml': '[workflow]\n',
      '.claude/skills/private-notes/SKILL.md': skill('private-notes'),
    });
    expect(
      records.map(({ name, kind, moduleName, phase, bmadRelativePath, status }) => [
        name,
        kind,
        moduleName,
        phase,
        bmadRelativePath,
        status,
      ]),
    ).toEqual([
      ['acme-plan', 'workflow', 'tea', '2-plan', '.claude/skills/acme-plan/SKILL.md', 'verified'],
      ['bmad-tea', 'agent', 'tea', undefined, '.claude/skills/bmad-tea/SKILL.md', 'verified'],
    ]);
    expect(modules.find(({ code }) => code === 'tea')?.version).toBe('1.27.2');
  });

  it('lists each knowledge fragment once, however many skills carry it', async () => {
    const index =
      'id,name,description,tags,tier,fragment_file\nci,CI,Continuous,"a,b",1,knowledge/ci.md\ngone,Gone,x,,1,knowledge/gone.md\nout,Out,x,,1,../../../secret.md\n';
    const files = Object.fromEntries(
      ['bmad-testarch-a', 'bmad-testarch-b', 'bmad-testarch-c'].flatMap((name) => [
        [`.claude/skills/${name}/SKILL.md`, skill(name)],
        [`.claude/skills/${name}/resources/tea-index.csv`, index],
        [`.claude/skills/${name}/resources/knowledge/ci.md`, '# CI\n'],
      ]),
    );
    const { records } = await readProject({ '_bmad/_config/manifest.yaml': MANIFEST, ...files });
    expect(
      records.filter(({ kind }) => kind === 'knowledge').map(({ name, displayName }) => [name, displayName]),
    ).toEqual([['ci', 'CI']]);
  });

  it('marks launchers, and those whose file is gone', async () => {
    const launcher = (file: string): string =>
      `1. LOAD the FULL agent file from {project-root}/_bmad/bmm/agents/${file}\n`;
    const { records, problems } = await readProject({
      '_bmad/_config/manifest.yaml': MANIFEST,
      '_bmad/bmm/config.yaml': 'user_name: Ada\n',
      '_bmad/bmm/agents/pm.md': '<agent name="John" title="PM">',
      '.claude/skills/bmad-pm/SKILL.md': skill('bmad-pm', launcher('pm.md')),
      '.claude/skills/bmad-sm/SKILL.md': skill('bmad-sm', launcher('sm.md')),
    });
    expect(
      records.map(({ name, moduleName, launches, exists, status }) => [
        name,
        moduleName,
        launches,
        exists,
        status,
      ]),
    ).toEqual([
      ['bmad-pm', 'bmm', 'bmm/agents/pm.md', true, 'not-in-manifest'],
      ['bmad-sm', 'bmm', 'bmm/agents/sm.md', false, 'no-file-found'],
    ]);
    expect(problems.map(({ message }) => message)).toEqual([
      'stale launcher: it loads "bmm/agents/sm.md", which does not exist',
    ]);
  });

  it('shows rows without a file and does not serve them', async () => {
    const { records } = await readProject({
      '_bmad/_config/manifest.yaml': MANIFEST,
      '_bmad/_config/skill-manifest.csv': `${HEADER}"bmad-prd","bmad-prd","PRD","bmm","_bmad/bmm/plan/bmad-prd/SKILL.md"\n"../x","x","x","bmm","../../x"\n`,
      '_bmad/bmm/config.yaml': '',
    });
    expect(records.map(({ name, exists, status, source }) => [name, exists, status, source])).toEqual([
      ['bmad-prd', false, 'no-file-found', 'manifest'],
    ]);
  });
});
