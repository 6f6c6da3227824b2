import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contentRoot, contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { activate } from '../activation/activate.ts';
import { execute } from '../execute.ts';
import type { AnyOperation } from '../operation.ts';
import { readResource } from './resources.ts';
import { getSkill, listSkillFolder, listSkills } from './skills.ts';

const built = await openSession(afterAll);

interface Entry {
  uri: string;
  frontmatter: Record<string, unknown>;
  resources: { uri: string; digest: string; size: number }[] | 'dynamic';
}

const INSTALL = {
  'bmad/_cfg/manifest.yaml': 'installation:\n  version: 6.0.0-alpha.7\nmodules:\n  - bmm\n',
  'bmad/bmm/config.yaml': 'user_name: Ada\n',
  'bmad/bmm/agents/architect.md':
    '---\nname: "architect"\ndescription: "Draws plans"\n---\n<agent id="a" name="W" title="Architect" icon="x">\nHello {user_name}, it is {date}\n</agent>\n',
  'bmad/bmm/agents/pm.md':
    '---\nname: "pm"\ndescription: "Plans"\n---\n<agent id="p" name="J" title="PM" icon="x">\nx\n</agent>\n',
  'bmad/bmm/workflows/ship/workflow.yaml':
    'name: ship\ndescription: "Ships: it"\ninstructions: "{installed_path}/instructions.md"\n',
  'bmad/bmm/workflows/ship/instructions.md': 'Step one.\n',
  'bmad/bmm/workflows/ship/data/Q&A list.csv': 'q,a\n',
};

async function world(files: Record<string, string | Buffer>, env: Record<string, string> = {}) {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, files);
  const context = await contextIn(folder, { flags: { discovery: 'local' }, env });
  async function ask<T>(operation: AnyOperation, input: object = {}): Promise<T> {
    const outcome = await execute(operation, input, context, testCall());
    if (!outcome.ok) throw outcome.error;
    return outcome.data as T;
  }
  const refused = (operation: AnyOperation, input: object): Promise<string> =>
    ask(operation, input).then(
      () => 'nothing',
      (error: { code: string }) => error.code,
    );
  const text = async (uri: string): Promise<string> =>
    (await ask<{ text?: string }>(readResource, { uri })).text ?? '';
  return { folder, context, ask, refused, text };
}

const sha256 = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

describe('skills', () => {
  it('are listed with the front matter of their files, in a fixed order', async () => {
    const { data } = await built.ok(listSkills);
    const items = data['items'] as Entry[];
    expect(items.length).toBe(29);
    expect(items.map(({ uri }) => uri)).toEqual(items.map(({ uri }) => uri).sort());
    expect(items[0]).toMatchObject({
      uri: 'skill://bmm/bmad-agent-analyst/SKILL.md',
      frontmatter: { name: 'bmad-agent-analyst' },
    });
  });

  it('of BMAD itself are served byte for byte', async () => {
    const uri = 'skill://bmm/bmad-prd/SKILL.md';
    const file = await readFile(join(contentRoot, 'bmm/plan/bmad-prd/SKILL.md'));
    expect((await built.ok(readResource, { uri })).data['text']).toBe(file.toString('utf8'));
    const { resources } = (await built.ok(getSkill, { uri })).data as unknown as Entry;
    expect(resources).toContainEqual({ uri, digest: sha256(file), size: file.length });
  });

  it('of old names are served but not listed', async () => {
    const uri = 'skill://bmm/bmad-create-prd/SKILL.md';
    expect((await built.ok(getSkill, { uri })).data).toMatchObject({
      frontmatter: { name: 'bmad-create-prd' },
    });
    const { data } = await built.ok(listSkills);
    expect((data['items'] as Entry[]).some((entry) => entry.uri === uri)).toBe(false);
  });

  it('are made of what is older than skills: what a start delivers, and the original files', async () => {
    const { ask, text } = await world(INSTALL);
    const { items } = await ask<{ items: Entry[] }>(listSkills);
    expect(items.map(({ uri }) => uri)).toEqual([
      'skill://bmm/bmm-architect/SKILL.md',
      'skill://bmm/bmm-pm/SKILL.md',
      'skill://bmm/bmm-ship/SKILL.md',
    ]);
    const files = items.map(({ resources }) =>
      resources === 'dynamic' ? [] : resources.map(({ uri }) => uri.split('/').slice(4).join('/')),
    );
    expect(files).toEqual([
      ['SKILL.md', 'architect.md'],
      ['SKILL.md', 'pm.md'],
      ['SKILL.md', 'data/Q%26A%20list.csv', 'instructions.md', 'workflow.yaml'],
    ]);
    const ship = await text('skill://bmm/bmm-ship/SKILL.md');
    expect(ship.startsWith('---\nname: "bmm-ship"\ndescription: "Ships: it"\n---\n')).toBe(true);
    const started = await ask<{ text: string }>(activate, { name: 'ship', detail: 'full' });
    for (const line of [
      'Step one.',
      'instructions: "{installed_path}/instructions.md"',
      '- `instructions.md`',
    ])
      expect(ship).toContain(line);
    expect(ship).toContain(started.text.slice(started.text.indexOf('## File'), -200));
    expect(await text('skill://bmm/bmm-ship/data/Q%26A%20list.csv')).toBe('q,a\n');
  });

  it('have values in them, but no date', async () => {
    const { text } = await world(INSTALL);
    const architect = await text('skill://bmm/bmm-architect/SKILL.md');
    expect(architect).toContain('`{user_name}`: Ada');
    expect(architect).toContain('`{date}`: the current date');
  });

  it('have digests of what is read, also where a secret is kept back', async () => {
    const { ask, text } = await world(
      {
        ...INSTALL,
        'bmad/bmm/workflows/ship/service.yaml': 'api_key: abcdefgh\nnote: hunter2hunter2\n',
        'bmad/bmm/workflows/ship/logo.png': Buffer.from([0x89, 0x50, 0, 255]),
      },
      { MY_TOKEN: 'hunter2hunter2' },
    );
    const entry = await ask<Entry>(getSkill, { uri: 'skill://bmm/bmm-ship/SKILL.md' });
    if (entry.resources === 'dynamic') throw new Error('it has no list of files');
    expect(entry.resources.length).toBe(6);
    for (const { uri, digest, size } of entry.resources) {
      const file = await ask<{ text?: string; blob?: string }>(readResource, { uri });
      const bytes = file.text === undefined ? Buffer.from(file.blob ?? '', 'base64') : Buffer.from(file.text);
      expect([uri, sha256(bytes), bytes.length]).toEqual([uri, digest, size]);
    }
    expect(await text('skill://bmm/bmm-ship/service.yaml')).toBe('api_key: ***\nnote: ***\n');
  });

  it('show a change at once', async () => {
    const { folder, ask } = await world(INSTALL);
    const uri = 'skill://bmm/bmm-ship/SKILL.md';
    const before = await ask<Entry>(getSkill, { uri });
    await writeFiles(folder, { 'bmad/bmm/workflows/ship/instructions.md': 'Step two.\n' });
    const after = await ask<Entry>(getSkill, { uri });
    if (before.resources === 'dynamic' || after.resources === 'dynamic') throw new Error('no list of files');
    const known = new Map(before.resources.map((file) => [file.uri, file.digest]));
    const changed = after.resources.filter((file) => known.get(file.uri) !== file.digest);
    expect(changed.map((file) => file.uri)).toEqual([uri, 'skill://bmm/bmm-ship/instructions.md']);
  });

  const HEAD = '---\nname: "other"\ndescription: "Says"\n---\n';
  it.each([
    ['as it is', '---\nname: other\ndescription: Says\n---\nBody\n', undefined],
    ['a name', '---\nname: Other\ndescription: Says\n---\nBody\n', `${HEAD}Body\n`],
    ['a description', '---\nname: other\n---\nBody\n', `${HEAD.replace('Says', 'other (skill)')}Body\n`],
    [
      'plain metadata',
      '---\nname: other\ndescription: Says\nmetadata:\n  n: 1\n---\nBody\n',
      `${HEAD}Body\n`,
    ],
  ])('get a front matter that hosts accept where theirs is not: %s', async (_what, own, served) => {
    const { text } = await world({
      '.claude/skills/bmad-x/SKILL.md': own,
      '_bmad/_config/manifest.yaml':
        'installation:\n  version: 6.8.0\nmodules:\n  - name: tea\n    version: 1.27.2\n',
      '_bmad/_config/skill-manifest.csv':
        'canonicalId,name,description,module,path\n"bmad-x","bmad-x","x","tea","_bmad/tea/x/bmad-x/SKILL.md"\n',
    });
    expect(await text('skill://tea/other/SKILL.md')).toBe(served ?? own);
  });

  it('of more files than hosts have to accept have no list of them', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 512 }, (_, index) => [`bmad/bmm/workflows/ship/data/${index}.md`, 'x\n']),
    );
    const { ask } = await world({ ...INSTALL, ...many });
    expect(await ask(getSkill, { uri: 'skill://bmm/bmm-ship/SKILL.md' })).toMatchObject({
      resources: 'dynamic',
    });
  });

  it('have folders that can be listed', async () => {
    const { ask } = await world(INSTALL);
    expect(await ask(listSkillFolder, { uri: 'skill://bmm/bmm-ship/' })).toEqual({
      items: [
        { uri: 'skill://bmm/bmm-ship/SKILL.md', name: 'SKILL.md', folder: false, mimeType: 'text/markdown' },
        { uri: 'skill://bmm/bmm-ship/data', name: 'data', folder: true, mimeType: 'inode/directory' },
        {
          uri: 'skill://bmm/bmm-ship/instructions.md',
          name: 'instructions.md',
          folder: false,
          mimeType: 'text/markdown',
        },
        {
          uri: 'skill://bmm/bmm-ship/workflow.yaml',
          name: 'workflow.yaml',
          folder: false,
          mimeType: 'application/x-yaml',
        },
      ],
    });
    expect(await ask(listSkillFolder, { uri: 'skill://bmm/bmm-ship/data' })).toMatchObject({
      items: [{ name: 'Q&A list.csv', mimeType: 'text/csv' }],
    });
  });

  it('give nothing that is not theirs', async () => {
    const { refused } = await world({ ...INSTALL, 'secret.txt': 'x' });
    const cases: [AnyOperation, string, string][] = [
      [readResource, 'skill://bmm/bmm-architect/pm.md', 'not_found'],
      [readResource, 'skill://bmm/bmm-ship/../../agents/pm.md', 'forbidden'],
      [readResource, 'skill://bmm/bmm-ship/%2e%2e/%2e%2e/agents/pm.md', 'forbidden'],
      [readResource, 'skill://bmm/bmm-ship/%252e%252e/pm.md', 'forbidden'],
      [readResource, 'skill://bmm/bmm-ship/..%5C..%5Csecret.txt', 'forbidden'],
      [readResource, 'skill://bmm/bmm-ship/', 'not_found'],
      [readResource, 'skill://bmm/nobody/SKILL.md', 'not_found'],
      [readResource, 'skill://core/bmm-ship/SKILL.md', 'not_found'],
      [readResource, 'skill://', 'forbidden'],
      [getSkill, 'skill://bmm/bmm-ship/workflow.yaml', 'invalid_input'],
      [getSkill, 'skill://bmm/bmm-ship', 'invalid_input'],
      [getSkill, 'skill://bmm/bmm-shop/SKILL.md', 'not_found'],
      [listSkillFolder, 'skill://bmm/bmm-ship/workflow.yaml', 'not_found'],
      [listSkillFolder, 'skill://bmm', 'not_found'],
    ];
    for (const [operation, uri, code] of cases)
      expect([uri, await refused(operation, { uri })]).toEqual([uri, code]);
  });
});
