import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import type { Origin } from '../../model/record.ts';
import { folderTree } from '../../sources/tree.ts';
import type { Reading } from '../reader.ts';
import { compiledReader } from './index.ts';

type Files = Record<string, string | Buffer>;

async function readFolder(files: Files, name = '_bmad'): Promise<Reading> {
  const root = join(await temporaryFolder(afterAll), name);
  await mkdir(root);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const origin: Origin = { kind: 'project', displayName: 'Test', root, priority: 1 };
  return compiledReader.read({ origin, tree: folderTree(root, 4_000_000) });
}

const agent = (name: string, title = 'Tester'): string =>
  `---\nname: "${name}"\ndescription: "${title}"\n---\n\n\`\`\`xml\n<agent id="x" name="${name}" title="${title}" icon="🧪">\n<persona/>\n</agent>\n\`\`\`\n`;
const workflow = (name: string): string => `---\nname: ${name}\ndescription: Does ${name}\n---\n`;
const names = ({ records }: Reading): string[] => records.map(({ kind, name }) => `${kind} ${name}`);

const AGENTS = 'name,displayName,title,icon,role,identity,communicationStyle,principles,module,path';

describe('folders the compiled reader leaves alone', () => {
  it('gives nothing for what is no install', async () => {
    const nothing = { records: [], modules: [], problems: [] };
    expect(
      await readFolder({ 'README.md': '#', 'src/index.ts': '', 'docs/agents/a.md': agent('A') }),
    ).toEqual(nothing);
    expect(await readFolder({ 'acme/module.yaml': 'code: acme\n', 'acme/agents/a/SKILL.md': '#' })).toEqual(
      nothing,
    );
  });

  it('takes no task or template from a folder that only looks like a module', async () => {
    const reading = await readFolder({
      'src/agents/notes.md': 'How our agents work.',
      'src/tools/usage.md': '# Usage',
      'src/mail-template.md': '',
    });
    expect(reading).toEqual({ records: [], modules: [], problems: [] });
  });

  it('does not look into skills, documentation and the folders of users', async () => {
    const reading = await readFolder({
      '_config/manifest.yaml': 'modules: [bmm]\n',
      '_memory/agents/a.md': agent('A'),
      '_memory/config.yaml': 'user_name: x\n',
      'docs/agents/b.md': agent('B'),
      'bmm/agents/README.md': agent('C'),
      'bmm/agents/docs/how.md': agent('D'),
      'bmm/agents/notes.md': 'No agent, but <agents> are mentioned.',
      'bmm/agents/e.agent.yaml': '<agent name="E">',
      'bmm/agents/tea/SKILL.md': '---\nname: tea\n---\n',
      'bmm/agents/tea/agents/helper.md': agent('F'),
      'bmm/tasks/bmad-help/SKILL.md': '#',
      'bmm/workflows/plan/bmad-prd/SKILL.md': '#',
      'bmm/workflows/plan/bmad-prd/workflow.md': workflow('inner'),
      'bmm/workflows/plan/prd/workflow.md': workflow('prd'),
      'bmm/workflows/docs/x/workflow.md': workflow('x'),
      'bmm/workflows/a/templates/workflow.md': workflow('y'),
      'bmm/workflows/z-template/workflow.md': workflow('z'),
      'bmm/workflows/b/workflow-guide.md': 'How to write workflows.',
      'bmm/workflows/c/workflow.yaml': 'name: "{CODE}"\ninstructions: x.md\n',
      'bmm/workflows/d/workflow.yaml': 'name: d\nversion: 1\n',
      'bmm/workflows/e/workflow.yaml': 'name: e\nsteps: []\n',
      'bmm/workflows/f/workflow.yaml': 'name: f\n',
      'bmm/workflows/f/instructions.md': 'Do it.',
      // Instructions in a folder of many workflows are those of none.
      'bmm/workflows/workflow.yaml': 'name: g\n',
      'bmm/workflows/instructions.md': 'Do it.',
    });
    expect(names(reading)).toEqual(['workflow e', 'workflow f']);
    expect(reading.problems).toEqual([
      {
        file: 'bmm/agents/e.agent.yaml',
        message: expect.stringContaining('left out') as string,
        mild: true,
      },
      {
        file: 'bmm/agents/notes.md',
        message: expect.stringContaining('left out') as string,
        mild: true,
      },
      {
        file: 'bmm/workflows/d/workflow.yaml',
        message: expect.stringContaining('left out') as string,
        mild: true,
      },
      {
        file: 'bmm/workflows/workflow.yaml',
        message: expect.stringContaining('left out') as string,
        mild: true,
      },
    ]);
    expect(reading.modules.map(({ code }) => code)).toEqual(['bmm']);
  });
});

describe('manifests and files', () => {
  it('are told apart: listed and there, there only, listed only', async () => {
    const { records, modules, problems } = await readFolder(
      {
        '_cfg/manifest.yaml': 'installation:\n  version: 6.0.0-alpha.13\nmodules:\n  - core\n  - bmm\n',
        '_cfg/agent-manifest.csv': [
          AGENTS,
          '"pm","Old &amp; wise","PM","📋","r","i","s","p","bmm",".bmad/bmm/agents/pm.md"',
          '"pm","Again","PM","📋","r","i","s","p","bmm",".bmad/bmm/agents/pm.md"',
          '"moved","M","","","","","","","bmm",".bmad/bmm/agents/moved.md"',
          '"gone","G","Gone Agent","","","","","","bmm",".bmad/bmm/agents/gone.md"',
        ].join('\n'),
        'bmm/agents/pm.md': '<agent id="a" title="No name"><persona>',
        'bmm/agents/moved/moved.md': agent('M'),
        'bmm/agents/extra.md': agent('X'),
        'bmm/agents/plain.md': '---\nname: Plain\ndescription: Without XML\n---\n',
      },
      '.bmad',
    );
    expect(problems).toEqual([]);
    expect(records.map(({ name, source, status, exists }) => [name, source, status, exists])).toEqual([
      ['extra', 'filesystem', 'not-in-manifest', true],
      ['gone', 'manifest', 'no-file-found', false],
      ['moved', 'filesystem', 'not-in-manifest', true],
      ['plain', 'filesystem', 'not-in-manifest', true],
      ['pm', 'manifest', 'verified', true],
    ]);
    expect(records[3]).toMatchObject({ format: 'document', description: 'Without XML', aliases: ['Plain'] });
    expect(records[4]).toMatchObject({
      displayName: 'Old & wise',
      title: 'No name',
      bmadVersion: '6.0.0-alpha.13',
    });
    expect(modules.map(({ code, roster }) => [code, roster.map((entry) => entry.code)])).toEqual([
      ['bmm', ['pm']],
      ['core', []],
    ]);
  });

  it('may not lead outside, in any spelling', async () => {
    const paths = [
      '../secret.md',
      '_bmad/../../secret.md',
      '/etc/passwd.md',
      'C:\\secret.md',
      'other/agents/a.md',
      '_bmad\\bmm\\agents\\fine.md',
    ];
    const { records, problems } = await readFolder({
      '_config/agent-manifest.csv': ['name,path', ...paths.map((path) => `"x","${path}"`)].join('\r\n'),
      'bmm/agents/fine.md': agent('Fine'),
    });
    expect(records.map(({ name, status }) => [name, status])).toEqual([['fine', 'verified']]);
    expect(problems.map(({ file }) => file)).toEqual(
      Array.from({ length: 5 }, () => '_config/agent-manifest.csv'),
    );
  });

  it('have the columns of the first alpha, in any case, with a mark in front and line breaks inside', async () => {
    const { records, modules } = await readFolder(
      {
        '_cfg/agent-manifest.csv':
          '\uFEFFName,DisplayName,Description,Module,Path\r\n"pm","John","A\r\nmanager ""of"" products",bmm,"bmad/bmm/agents/pm.md"\r\n"short"\r\n',
        'bmm/agents/pm.md':
          '<agent id="bmad/bmm/agents/pm.md" name="John">\n<cmds><c cmd="*help">Help</c></cmds>',
      },
      'bmad',
    );
    expect(records).toMatchObject([
      { name: 'pm', displayName: 'John', description: 'A manager "of" products', status: 'verified' },
    ]);
    expect(modules[0]?.roster).toMatchObject([
      { code: 'pm', name: 'John', description: 'A manager "of" products' },
    ]);
  });

  it('list skills too, which are left to their reader and stay in the roster', async () => {
    const { records, modules, problems } = await readFolder({
      '_config/agent-manifest.csv':
        'name,displayName,module,path,canonicalId\n' +
        '"bmad-agent-pm","John","bmm","_bmad/bmm/plan/bmad-agent-pm",""\n' +
        '"bmad-agent-qa","Quinn","bmm","_bmad/bmm/plan/bmad-agent-qa",""\n' +
        '"old","Old","bmm","_bmad/bmm/plan/old",""\n',
      '_config/workflow-manifest.csv': 'name,path\n"tea","_bmad/bmm/plan/bmad-agent-pm/workflow.yaml"\n',
      '_config/skill-manifest.csv': 'canonicalId,name\n"bmad-agent-qa","bmad-agent-qa"\n',
      'bmm/config.yaml': 'user_name: Ann\nlist: [a, b]\nnested: { a: 1 }\n__proto__: odd\n',
      'bmm/plan/bmad-agent-pm/SKILL.md': '#',
      'bmm/plan/bmad-agent-pm/workflow.yaml': 'name: tea\ninstructions: x\n',
    });
    expect([records, problems]).toEqual([[], []]);
    expect(modules[0]?.roster.map(({ name }) => name)).toEqual(['John', 'Quinn']);
    expect(modules[0]?.settings.map((setting) => [setting.key, setting.default])).toEqual([
      ['user_name', 'Ann'],
      ['list', 'a, b'],
      ['__proto__', 'odd'],
    ]);
  });
});

describe('the custom kit', () => {
  it('keeps agents beside the manifests, with a comment on top', async () => {
    const { records, modules } = await readFolder({
      '_config/agent-manifest.csv':
        'name,displayName,title,icon,role,module,path\n"dev","dev","","","","custom","_bmad/_config/custom/agents/dev.md"\n',
      '_config/custom/agents/dev.md': `<!-- about the <agent> tag -->\n${agent('Stack', 'R &amp; D')}`,
      '_config/custom/agents/plain.md': '<activation critical="MANDATORY">',
      '_config/custom/agents/loop.tpl.md': agent('Loop'),
      'custom/agents/more.md': agent('More'),
      'custom/agents/notes.md': 'nothing',
    });
    expect(records.map((r) => [r.name, r.moduleName, r.moduleRelativePath, r.status])).toEqual([
      ['dev', 'custom', 'agents/dev.md', 'verified'],
      ['more', 'custom', 'agents/more.md', 'not-in-manifest'],
      ['plain', 'custom', 'agents/plain.md', 'not-in-manifest'],
    ]);
    expect(records[0]).toMatchObject({ displayName: 'Stack', title: 'R & D', description: 'R & D' });
    expect(modules.map(({ code }) => code)).toEqual(['custom']);
  });
});

describe('knowledge', () => {
  it('is counted once, however many copies there are', async () => {
    const index = 'id,name,description,tags,tier,fragment_file\n';
    const { records, problems } = await readFolder({
      '_config/manifest.yaml': '',
      'tea/config.yaml': '',
      'tea/a/SKILL.md': '#',
      'tea/a/resources/tea-index.csv': `${index}one,One,First,"x,y",core,knowledge/one.md\nout,,,,,../../b/SKILL.md\n`,
      'tea/a/resources/knowledge/one.md': 'the same',
      'tea/b/SKILL.md': '#',
      'tea/b/resources/tea-index.csv': `${index}one,One,First,"x,y",core,knowledge/one.md\nnone,None,,,,knowledge/none.md\n`,
      'tea/b/resources/knowledge/one.md': 'the same',
      'tea/c/SKILL.md': '#',
      'tea/c/resources/tea-index.csv': `${index}one,One,First,"x,y",core,./knowledge/one.md\n`,
      'tea/c/resources/knowledge/one.md': 'edited',
    });
    expect(records.map(({ name, description, status }) => [name, description, status])).toEqual([
      ['knowledge-one', 'First [x,y]', 'verified'],
      ['none', '', 'no-file-found'],
      ['one', 'First [x,y]', 'verified'],
    ]);
    expect(problems.map(({ file }) => file)).toEqual(['tea/a/resources/tea-index.csv']);
  });
});
