import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import type { Origin } from '../../model/record.ts';
import { folderTree } from '../../sources/tree.ts';
import type { Reading } from '../reader.ts';
import { v4Reader } from './index.ts';

const LIMIT = 300_000;

async function folderWith(files: Record<string, string | Buffer>, name = ''): Promise<string> {
  const root = join(await temporaryFolder(afterAll), name);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}

const readFolder = async (files: Record<string, string | Buffer>, name = ''): Promise<Reading> =>
  readRoot(await folderWith(files, name));

async function readRoot(root: string): Promise<Reading> {
  const origin: Origin = { kind: 'project', displayName: 'Test', root, priority: 1 };
  return v4Reader.read({ origin, tree: folderTree(root, LIMIT) });
}

const agent = (name: string, more = ''): string =>
  `# x\n\n\`\`\`yaml\nagent:\n  name: ${name}\n  id: ${name.toLowerCase()}\n${more}commands:\n  - help: Show\n\`\`\`\n`;
const manifest = (paths: readonly string[], head = 'version: 4.44.3\n'): string =>
  `${head}files:\n${paths.map((path) => `  - path: ${path}\n    hash: 0123456789abcdef\n    modified: false\n`).join('')}`;

const EMPTY: Reading = { records: [], modules: [], problems: [] };
const summary = ({ records }: Reading): string[] =>
  records.map(({ kind, bmadRelativePath, status }) => `${kind} ${bmadRelativePath} ${status}`);

describe('the reader of version 4 and manifests', () => {
  it('tells what is listed, what is not, and what is gone', async () => {
    const reading = await readFolder({
      '.bmad-core/agents/dev.md': agent('James'),
      '.bmad-core/agents/mine.md': agent('Mine'),
      '.bmad-core/tasks/a-task-with-a-long-name.md': '# Long\n',
      '.bmad-core/tasks/odd.bin': 'there, though no record',
      '.bmad-core/install-manifest.yaml': manifest([
        '.bmad-core/agents/dev.md',
        "'.bmad-core/agents/gone.md'",
        '.bmad-core\\workflows\\gone.yaml',
        '>-\n      .bmad-core/tasks/a-task-with-a-long-name.md',
        '.bmad-core/tasks/odd.bin',
        '.bmad-core/tasks/gone.md',
        '.bmad-core/templates/gone.yaml',
        '.bmad-core/user-guide.md',
        '.bmad-pack/agents/lost.md',
        '../outside/agents/x.md',
        '/etc/agents/x.md',
        'C:/agents/x.md',
        '7',
      ]),
    });
    expect(summary(reading)).toEqual([
      'agent .bmad-core/agents/dev.md verified',
      'agent .bmad-core/agents/gone.md no-file-found',
      'agent .bmad-core/agents/mine.md not-in-manifest',
      'task .bmad-core/tasks/a-task-with-a-long-name.md verified',
      'task .bmad-core/tasks/gone.md no-file-found',
      'workflow .bmad-core/workflows/gone.yaml no-file-found',
    ]);
    expect(reading.records.map(({ source }) => source).indexOf('filesystem')).toBe(2);
    const { origin, moduleName, moduleVersion, bmadVersion, generation, format } = reading.records[0] ?? {};
    expect(reading.records[1]).toEqual({
      origin,
      moduleName,
      moduleVersion,
      bmadVersion,
      generation,
      format,
      kind: 'agent',
      source: 'manifest',
      name: 'gone',
      description: '',
      bmadRelativePath: '.bmad-core/agents/gone.md',
      moduleRelativePath: 'agents/gone.md',
      absolutePath: join(origin?.root ?? '', '.bmad-core/agents/gone.md'),
      exists: false,
      status: 'no-file-found',
      aliases: [],
      digest: '',
    });
    expect(reading.modules.map(({ code, roster }) => [code, roster.map((entry) => entry.code)])).toEqual([
      ['bmad-core', ['dev', 'mine']],
    ]);
    expect(reading.problems).toEqual([]);
  });

  it('follows a folder that was renamed, and reads old manifests', async () => {
    const renamed = await readFolder({
      '.my-bmad/agents/dev.md': agent('James'),
      '.my-bmad/install-manifest.yml':
        "{'version': '4.7.0', 'files': [{'path': '.bmad-core/agents/dev.md'}]}",
    });
    expect(renamed.records).toMatchObject([
      { moduleName: 'my-bmad', bmadVersion: '4.7.0', status: 'verified' },
    ]);
    const alone = await readFolder(
      {
        'agents/dev.md': agent('James'),
        'install-manifest.yaml': manifest(
          ['.bmad-pack/agents/dev.md', '.bmad-pack/tasks/gone.md', '.bmad-core/tasks/other.md'],
          'version: 2.1\nexpansion_pack_id: bmad-pack\nexpansion_pack_name: The Pack\n',
        ),
      },
      'copy',
    );
    expect(summary(alone)).toEqual(['agent agents/dev.md verified', 'task tasks/gone.md no-file-found']);
    expect(alone.modules).toMatchObject([{ code: 'copy', name: 'The Pack', version: '2.1' }]);
    expect(alone.records[0]).not.toHaveProperty('bmadVersion');
  });

  it('does without a manifest, or with a broken one', async () => {
    const files = {
      '.bmad-core/agents/dev.md': agent('James'),
      '.bmad-pack/agents/eve.md': agent('Eve'),
      '.bmad-pack/config.yaml': 'name: bmad-pack\nversion: 1.4.2\nshort-title: Pack\n',
    };
    const without = await readFolder(files);
    expect(without.records).toMatchObject([
      { name: 'dev', source: 'filesystem', status: 'not-in-manifest' },
      { name: 'eve', moduleVersion: '1.4.2', status: 'not-in-manifest' },
    ]);
    expect(without.records[0]).not.toHaveProperty('moduleVersion');
    expect(without.modules.map(({ name, version }) => [name, version])).toEqual([
      ['bmad-core', undefined],
      ['Pack', '1.4.2'],
    ]);
    const broken = await readFolder({
      ...files,
      '.bmad-core/install-manifest.yaml': 'version: [4\nfiles: x',
      '.bmad-pack/config.yaml': 'name: "x\nversion: 1',
    });
    expect(broken.problems.map(({ file, line }) => [file, line])).toEqual([
      ['.bmad-core/install-manifest.yaml', 2],
      ['.bmad-pack/config.yaml', expect.any(Number)],
    ]);
    expect(summary(broken)).toEqual(summary(without));
  });
});

describe('the reader of version 4 and files', () => {
  it('takes the files of the known folders only', async () => {
    const { records } = await readFolder({
      '.bmad-core/core-config.yml': 'markdownExploder: true\n',
      '.bmad-core/user-guide.md': '# Guide\n',
      '.bmad-core/utils/workflow-management.md': '# Utils\n',
      '.bmad-core/bmad-core/user-guide.md': '# Guide\n',
      '.bmad-core/agents/README.md': '# Agents\n',
      '.bmad-core/agents/dev.md': agent('James'),
      '.bmad-core/agents/dev.md.bak1': agent('James'),
      '.bmad-core/agents/.hidden/x.md': agent('X'),
      '.bmad-core/agent-teams/team.yml': 'bundle:\n  name: Team\n',
      '.bmad-core/data/areas/law.txt': 'All about the law of the land.\nAnd more.',
      '.bmad-core/data/list.csv': 'a,b\n',
      '.bmad-core/data/picture.png': 'png',
      '.bmad-core/templates/prd-tmpl.md': '# {{Project}} PRD\n\n[[LLM: Ask\nfirst.]]\n\n## Goals\n',
      '.bmad-core/workflows/ui.yml': 'workflow:\n  id: ui\n  name: UI\n',
    });
    expect(records.map(({ kind, name, description }) => [kind, name, description])).toEqual([
      ['team', 'team', 'Team'],
      ['agent', 'dev', ''],
      ['knowledge', 'law', 'All about the law of the land.'],
      ['knowledge', 'list', ''],
      ['template', 'prd-tmpl', '{{Project}} PRD'],
      ['workflow', 'ui', 'UI'],
    ]);
  });

  it('turns bad files into problems and keeps the rest', async () => {
    const root = await folderWith({
      '.bmad-core/agents/bad.md': agent('"Broken', '  title: The Bad\n  icon: 💥\n'),
      '.bmad-core/agents/good.md': `\uFEFF${agent('Good', '  title: The Good\n').replaceAll('\n', '\r\n')}`,
      '.bmad-core/agents/plain.md': '# Just text\n',
      '.bmad-core/data/binary.md': Buffer.from([35, 32, 0, 1, 2]),
      '.bmad-core/data/huge.md': 'x'.repeat(LIMIT + 1),
      '.bmad-core/data/long.md': `# Long\n\nThis one is long enough.\n\n${'x'.repeat(LIMIT - 100)}`,
      '.bmad-core/data/latin.md': Buffer.from('# Caf\xe9\n', 'latin1'),
      '.bmad-core/templates/bad.yaml': 'template:\n  name: "Half\n  version: 1\n',
      '.bmad-core/workflows/bad.yaml': 'workflow: [broken\nname: Broken one\n',
      '.bmad-core/workflows/flow.yaml': '{workflow: {name: In one line, description: All of it}}',
      '.bmad-core/workflows/late.yaml':
        '# first\n---\nmeta: 1\nworkflow: # this\n  # and\n  sequence:\n    - agent: x\n      name: no\n' +
        '  description: >-\n    In two\n    lines\n\n  name: Late\nname: other\n',
      '.bmad-core/workflows/empty.yaml': '',
    });
    await symlink('/etc/hostname', join(root, '.bmad-core/data/link.md'));
    const { records, problems } = await readRoot(root);
    expect(
      records.map(({ name, displayName, title, description }) => [name, displayName, title, description]),
    ).toEqual([
      ['bad', 'Broken', 'The Bad', 'The Bad'],
      ['good', 'Good', 'The Good', 'The Good'],
      ['plain', undefined, undefined, ''],
      ['latin', 'Caf\uFFFD', undefined, 'Caf\uFFFD'],
      ['long', 'Long', undefined, 'This one is long enough.'],
      ['bad', 'Half', undefined, 'Half'],
      ['bad', 'Broken one', undefined, 'Broken one'],
      ['empty', undefined, undefined, ''],
      ['flow', 'In one line', undefined, 'All of it'],
      ['late', 'Late', undefined, 'In two lines'],
    ]);
    expect(problems.map(({ file, line }) => [file.slice('.bmad-core/'.length), line])).toEqual([
      ['agents/bad.md', expect.any(Number)],
      ['agents/plain.md', undefined],
      ['data/binary.md', undefined],
      ['data/huge.md', undefined],
      ['templates/bad.yaml', expect.any(Number)],
      ['workflows/bad.yaml', expect.any(Number)],
    ]);
    expect(await readRoot(root)).toEqual({ records, problems, modules: expect.any(Array) });
  });

  it('takes what a document says of itself from where it says it', async () => {
    const { records } = await readFolder({
      '.bmad-core/agents/a.md': agent('A'),
      '.bmad-core/tasks/front.md': '---\ntitle: "Front"\ndescription: Says it all\n---\n\n# Other\n',
      '.bmad-core/tasks/keys.md':
        '<!-- x -->\n\n# ----\n\n# tasks/keys.md\n\n---\n\ntask:\nid: keys\nname: The Keys\ndescription: Opens doors.\n',
      '.bmad-core/tasks/list.md': '# 3. List\n\n## Purpose\n\n- Keep **all** items in `order`\n- Lose none\n',
      '.bmad-core/tasks/notice.md': '# Notice\n\n## READ THIS\n\nStop and read this text now.\n',
      '.bmad-core/tasks/quote.md':
        '# Quote\n\n**Purpose:** To quote (e.g. Goethe) well. Not more.\n\n```yaml\ntask:\n```\n',
      '.bmad-core/tasks/several.md': '# Several\n\n- [ ] Box to be ticked here\n\ntask:\nname: One of them\n',
      '.bmad-core/tasks/short.md': '# Short one\n\nNone yet.\n',
    });
    expect(
      records.slice(1).map(({ name, displayName, description }) => [name, displayName, description]),
    ).toEqual([
      ['front', 'Front', 'Says it all'],
      ['keys', 'The Keys', 'Opens doors.'],
      ['list', 'List', 'Keep all items in order'],
      ['notice', 'Notice', 'Notice'],
      ['quote', 'Quote', 'To quote (e.g. Goethe) well.'],
      ['several', 'Several', 'Several'],
      ['short', 'Short one', 'Short one'],
    ]);
  });
});

describe('the reader of version 4 and other folders', () => {
  it('leaves alone what is not its own', async () => {
    expect(await readFolder({ 'README.md': '#' })).toEqual(EMPTY);
    expect(
      await readFolder({
        '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.12.0\n',
        '_bmad/bmm/agents/pm.md': '<agent/>',
        '_bmad/bmm/config.yaml': 'user_name: x\n',
        'bmad-output/agents/x.md': agent('X'),
        '.bmad/_cfg/manifest.yaml': '{}',
        '.bmad/agents/x.md': agent('X'),
        '.bmad-v6/_cfg/manifest.yaml': '{}',
        '.bmad-v6/agents/x.md': agent('X'),
        '.bmad-state/memory.md': '# Memory\n',
        '.claude/agents/x.md': agent('X'),
        '.claude/commands/BMad/agents/x.md': agent('X'),
        'agents/x.md': agent('X'),
        'src/agents/x.md': agent('X'),
      }),
    ).toEqual(EMPTY);
    const v6Module = { 'agents/pm.md': '<agent/>', 'config.yaml': 'project_name: x\nuser_name: y\n' };
    expect(await readFolder(v6Module, 'bmm')).toEqual(EMPTY);
  });

  it('takes a folder by what marks it, whatever its name', async () => {
    const codes = async (files: Record<string, string>, name?: string): Promise<string[]> =>
      (await readFolder(files, name)).modules.map(({ code }) => code);
    const dev = { 'agents/dev.md': agent('James') };
    expect(await codes(dev, 'tools')).toEqual([]);
    expect(await codes(dev, '.bmad-core')).toEqual(['bmad-core']);
    expect(await codes({ ...dev, 'core-config.yaml': 'x: 1' }, 'tools')).toEqual(['tools']);
    expect(await codes({ ...dev, 'config.yaml': '\uFEFFname: pack\n' }, 'tools')).toEqual(['tools']);
    expect(await codes({ 'tasks/a.md': '# A', 'install-manifest.yaml': 'version: 4' }, 'x')).toEqual(['x']);
    const dotted = { '.bmad-core/agents/dev.md': agent('James') };
    const sources = { 'bmad-core/agents/dev.md': agent('James'), 'bmad-core/core-config.yaml': 'x: 1' };
    expect(await codes(sources)).toEqual(['bmad-core']);
    const both = await readFolder({ ...sources, ...dotted });
    expect(summary(both)).toEqual(['agent .bmad-core/agents/dev.md not-in-manifest']);
  });

  it('reads its part of a mixture', async () => {
    const { records, modules } = await readFolder({
      '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.12.0\n',
      '.bmad-core/agents/dev.md': agent('James'),
      '.bmad-core/install-manifest.yaml': manifest(['.bmad-core/agents/dev.md']),
    });
    expect(records.map(({ name, bmadVersion }) => [name, bmadVersion])).toEqual([['dev', '4.44.3']]);
    expect(modules.map(({ code }) => code)).toEqual(['bmad-core']);
  });
});
