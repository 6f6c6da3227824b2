import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contentRoot, temporaryFolder } from '../../../tests/support/app.ts';
import { installOf } from '../../../tests/support/installs.ts';
import type { Origin } from '../../model/record.ts';
import { folderTree } from '../../sources/tree.ts';
import { compiledReader } from '../compiled/index.ts';
import type { Reader, Reading } from '../reader.ts';
import { looseReader } from './index.ts';

function readRoot(root: string, reader = looseReader): Promise<Reading> {
  const origin: Origin = { kind: 'cli', displayName: 'Path', root, priority: 2 };
  return reader.read({ origin, tree: folderTree(root, 1_000_000) });
}

async function readFolder(files: Record<string, string>, reader?: Reader): Promise<Reading> {
  const root = join(await temporaryFolder(afterAll), 'mine');
  await mkdir(root);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return readRoot(root, reader);
}

const described = (name: string): string => `---\nname: ${name}\ndescription: Does ${name}\n---\n# ${name}\n`;
const TAGGED = '```xml\n<agent id="x" name="Ada" title="R &amp; D" icon="🧪">\n</agent>\n```\n';

describe('the loose reader', () => {
  it('finds agents and workflows in a plain folder', async () => {
    const { records, modules, problems } = await readFolder({
      'one.md': TAGGED,
      'notes.md': 'Nothing about agents.',
      'half.md': '---\nname: half\n---\n',
      'README.md': described('readme'),
      'agents/two.md': described('second'),
      'agents/three.tpl.md': TAGGED,
      'acme/agents/four.md': described('four'),
      'acme/other/five.md': described('five'),
      'workflows/six.md': described('release'),
      'workflows/seven.yaml': 'name: seven\ndescription: Does seven\nsteps: []\n',
      'workflows/eight.yaml': 'steps: []\n',
    });
    expect(problems).toEqual([
      {
        file: 'workflows/eight.yaml',
        message: 'left out: it has no name and description at the top',
        mild: true,
      },
    ]);
    expect(records.map((r) => [r.kind, r.moduleName, r.name, r.format, r.moduleRelativePath])).toEqual([
      ['agent', 'mine', 'two', 'document', 'agents/two.md'],
      ['agent', 'mine', 'one', 'compiled-agent', 'one.md'],
      ['workflow', 'mine', 'seven', 'workflow-yaml', 'workflows/seven.yaml'],
      ['workflow', 'mine', 'release', 'workflow-md', 'workflows/six.md'],
    ]);
    expect(records[1]).toMatchObject({
      displayName: 'Ada',
      title: 'R & D',
      icon: '🧪',
      description: 'R & D',
      source: 'filesystem',
      status: 'not-in-manifest',
      aliases: ['Ada', 'R & D'],
    });
    expect(records[0]).toMatchObject({ description: 'Does second', aliases: ['second'] });
    expect(records[3]?.aliases).toEqual(['six']);
    expect(modules.map(({ code }) => code)).toEqual(['mine']);
  });

  it('leaves the agents of modules to the compiled reader, which finds them all', async () => {
    const files = { 'acme/agents/pm.md': TAGGED, 'acme/agents/four.md': described('four') };
    expect((await readFolder(files)).records).toEqual([]);
    expect((await readFolder(files, compiledReader)).records.map(({ name }) => name)).toEqual(['four', 'pm']);
  });

  it.each([
    '_config/manifest.yaml',
    '_cfg/x',
    'acme/module.yaml',
    '.bmad-core/agents/pm.md',
    '_bmad/_config/x',
  ])('finds nothing beside %s', async (path) => {
    expect(await readFolder({ [path]: '', 'agents/two.md': described('two') })).toEqual({
      records: [],
      modules: [],
      problems: [],
    });
  });

  it('finds nothing in installs and in the built-in content', async () => {
    const roots = [join(await installOf('6.0.4'), '_bmad'), await installOf('4.44.3'), contentRoot];
    for (const root of roots) expect((await readRoot(root)).records).toEqual([]);
  });

  it('turns bad files into problems', async () => {
    const { records, problems } = await readFolder({
      'agents/bad.md': '---\nname: [a\n---\n',
      'agents/good.md': `\uFEFF${described('good').replaceAll('\n', '\r\n')}`,
      'workflows/bad.yaml': 'a: b: c',
      'workflows/long.md': `---\nname: long\ndescription: ${'x'.repeat(500_000)}\n---\n`,
    });
    expect(records.map(({ name, description }) => [name, description.length])).toEqual([
      ['good', 9],
      ['long', 2_000],
    ]);
    expect(problems.map(({ file }) => file)).toEqual(['agents/bad.md', 'workflows/bad.yaml']);
  });
});
