import { execFile } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import type { Origin } from '../../model/record.ts';
import { folderTree } from '../../sources/tree.ts';
import type { Reading } from '../reader.ts';
import { compiledReader } from './index.ts';

const run = promisify(execFile);

type Files = Record<string, string | Buffer>;

async function writeFolder(files: Files, name = '_bmad'): Promise<string> {
  const root = join(await temporaryFolder(afterAll), name);
  await mkdir(root);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}

function readRoot(root: string): Promise<Reading> {
  const origin: Origin = { kind: 'project', displayName: 'Test', root, priority: 1 };
  return compiledReader.read({ origin, tree: folderTree(root, 4_000_000) });
}

async function readFolder(files: Files, name?: string): Promise<Reading> {
  return readRoot(await writeFolder(files, name));
}

const agent = (name: string, title = 'Tester'): string =>
  `---\nname: "${name}"\ndescription: "${title}"\n---\n\n\`\`\`xml\n<agent id="x" name="${name}" title="${title}" icon="🧪">\n</agent>\n\`\`\`\n`;
const workflow = (name: string): string => `---\nname: ${name}\ndescription: Does ${name}\n---\n`;
const names = ({ records }: Reading): string[] => records.map(({ kind, name }) => `${kind} ${name}`);

const AGENTS = 'name,displayName,title,icon,role,identity,communicationStyle,principles,module,path';

describe('bad files', () => {
  it('become problems and hide nothing else', async () => {
    const junk = Buffer.from(Array.from({ length: 4_000 }, (_, index) => (index * 7919) % 256));
    const bomb = `a: &a [x]\n${Array.from({ length: 20 }, (_, n) => `b${n}: &b${n} [*a, *a, *a, *a, *a, *a, *a]\n`).join('')}`;
    const root = await writeFolder({
      '_config/manifest.yaml': bomb.repeat(2),
      '_config/agent-manifest.csv': `${AGENTS}\n"unterminated`,
      '_config/task-manifest.csv': junk,
      '_config/workflow-manifest.csv/inside.txt': 'a folder where a file should be',
      'bmm/config.yaml': junk,
      'bmm/module-help.csv': 'module,phase,name,code,workflow-file\n"unterminated',
      'bmm/agents/broken.md': '---\nname: "x\n---\n<agent name="Broken" title="T">',
      'bmm/agents/good.md': `\uFEFF${agent('Good').replaceAll('\n', '\r\n')}`,
      'bmm/workflows/a/workflow.md': '---\nname: [a\n---\n',
      'bmm/workflows/b/workflow.yaml': junk,
      'bmm/workflows/c/workflow.md': workflow('c'),
      'bmm/teams/t.yaml': 'bundle: [',
      'bmm/testarch/tea-index.csv': junk,
    });
    await run('mkfifo', [join(root, '_config/tool-manifest.csv'), join(root, 'bmm/agents/pipe.md')]);
    const reading = await readRoot(root);
    expect(names(reading)).toEqual(['agent broken', 'agent good', 'team t', 'workflow c']);
    expect(reading.records[0]).toMatchObject({ displayName: 'Broken', description: 'T' });
    const files = new Set(reading.problems.map(({ file }) => file));
    expect([...files].filter((file) => !file.endsWith('-index.csv') && !file.includes('task-'))).toEqual([
      '_config/agent-manifest.csv',
      '_config/manifest.yaml',
      '_config/tool-manifest.csv',
      '_config/workflow-manifest.csv',
      'bmm/agents/broken.md',
      'bmm/config.yaml',
      'bmm/module-help.csv',
      'bmm/teams/t.yaml',
      'bmm/workflows/a/workflow.md',
      'bmm/workflows/b/workflow.yaml',
    ]);
  });

  it.skipIf(process.getuid?.() === 0)('may be folders that cannot be read', async () => {
    const root = await writeFolder({
      '_config/manifest.yaml': '',
      'bmm/agents/a.md': agent('A'),
      'bmm/workflows/w': '',
    });
    await chmod(join(root, 'bmm/agents'), 0);
    const { records, problems } = await readRoot(root);
    await chmod(join(root, 'bmm/agents'), 0o700);
    expect([records, problems.map(({ file }) => file)]).toEqual([[], ['bmm/agents']]);
  });

  it('may be links in a circle, or lead outside', async () => {
    const root = await writeFolder({
      '_config/agent-manifest.csv': 'name,path\n"c","_bmad/bmm/agents/more/c.md"\n',
      'bmm/agents/a.md': agent('A'),
      'bmm/data/c.md': agent('C'),
    });
    await symlink('../data', join(root, 'bmm/agents/more'));
    await symlink('..', join(root, 'bmm/agents/again'));
    await symlink('/etc/hostname', join(root, 'bmm/agents/b.md'));
    const { records } = await readRoot(root);
    expect(records[0]).toMatchObject({ name: 'a', bmadRelativePath: 'bmm/agents/a.md' });
    expect(records.map(({ name, status }) => [name, status])).toEqual([
      ['a', 'not-in-manifest'],
      ['c', 'verified'],
    ]);
  });

  it('may be of any size and have any name', async () => {
    const long = 'x'.repeat(2_000_000);
    const { records, problems } = await readFolder({
      '_config/workflow-manifest.csv': `name,description,module,path\n"__proto__","${long}","__proto__","_bmad/bmm/workflows/p/workflow.md"\n`,
      'bmm/agents/constructor.md': `---\ndescription: ${long}\n---\n<agent name="__proto__">`,
      'bmm/workflows/p/workflow.md': '',
    });
    expect(problems).toEqual([]);
    expect(
      records.map(({ name, moduleName, description }) => [name, moduleName, description.length]),
    ).toEqual([
      ['constructor', 'bmm', 2_000],
      ['__proto__', 'bmm', 2_000],
    ]);
  });
});

describe('names that meet', () => {
  it('are made different by their folder, or are two forms of one thing', async () => {
    const reading = await readFolder({
      'bmm/agents/a/same.md': agent('A'),
      'bmm/agents/b/same.md': agent('B'),
      'bmm/workflows/x/one/workflow.md': workflow('one'),
      'bmm/workflows/x/one/workflow.yaml': 'name: one\ninstructions: i.md\n',
      'bmm/workflows/x/two/workflow.md': workflow('one'),
      'bmm/workflows/x/two/template.md': '',
      'bmm/workflows/x/two/checklist.md': '',
      'bmm/workflows/x/two/templates/prd-template.md': '',
      'bmm/workflows/x/one/prd-template.md': '',
      'bmm/workflows/x/two/steps/step-01-template.md': '',
    });
    expect(reading.problems).toEqual([]);
    expect(names(reading)).toEqual([
      'agent b-same',
      'agent same',
      'checklist two-checklist',
      'template prd-template',
      'template templates-prd-template',
      'template two-template',
      'workflow one',
      'workflow two-one',
    ]);
    expect(reading.records.find(({ name }) => name === 'one')?.format).toBe('workflow-yaml');
  });

  it('give way to the skill a workflow has become', async () => {
    const reading = await readFolder({
      '_config/manifest.yaml': '',
      'bmm/workflows/prd/workflow-validate-prd.md': workflow('validate-prd'),
      'bmm/workflows/bmad-validate-prd/SKILL.md': '#',
    });
    expect(names(reading)).toEqual([]);
  });
});
