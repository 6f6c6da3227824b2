import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contentRoot, contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { execute } from '../execute.ts';
import { complete } from './prompts.ts';
import { listResources, readResource } from './resources.ts';

const agent = (mark: string): string =>
  `---\nname: "pm"\ndescription: "x"\n---\n<agent id="a" name="J" title="PM" icon="x">\n${mark}\n</agent>\n`;

const session = await openSession(afterAll);

describe('resources', () => {
  it('pages through every file, and each can be read', async () => {
    const uris: string[] = [];
    let cursor: string | undefined;
    do {
      const { data } = await session.ok(listResources, cursor === undefined ? {} : { cursor });
      uris.push(...(data['items'] as { uri: string }[]).map(({ uri }) => uri));
      cursor = data['next'] as string | undefined;
    } while (cursor !== undefined);
    expect(uris.length).toBeGreaterThan(240);
    expect(new Set(uris).size).toBe(uris.length);
    for (const uri of uris) {
      const { data } = await session.ok(readResource, { uri });
      expect(typeof data['text'], uri).toBe('string');
    }
  });

  it('names the manifests as people do (A-19)', async () => {
    const titles: (string | undefined)[] = [];
    let cursor: string | undefined;
    do {
      const { data } = await session.ok(listResources, cursor === undefined ? {} : { cursor });
      for (const { uri, title } of data['items'] as { uri: string; title?: string }[])
        if (uri.startsWith('bmad://manifests/')) titles.push(title);
      cursor = data['next'] as string | undefined;
    } while (cursor !== undefined);
    expect(titles).toEqual(
      ['Agent', 'Master', 'Skill', 'Task', 'Tool', 'Workflow'].map((kind) => `${kind} Manifest`),
    );
  });

  it('makes the list once for all of its pages (M-35)', async () => {
    const context = await contextIn(await temporaryFolder(afterAll));
    const { skills } = (await context.workspace()).delivery;
    const { all } = skills;
    let made = 0;
    skills.all = () => {
      made += 1;
      return all();
    };
    let cursor: string | undefined;
    do {
      const outcome = await execute(
        listResources,
        cursor === undefined ? {} : { cursor },
        context,
        testCall(),
      );
      cursor = outcome.ok ? (outcome.data['next'] as string | undefined) : undefined;
    } while (cursor !== undefined);
    // None at all where another context has the same content.
    expect(made).toBeLessThanOrEqual(1);
  });

  it.each([
    ['bmad://core/module.yaml', 'application/x-yaml'],
    ['bmad://bmm/module-help.csv', 'text/csv'],
    ['bmad://scripts/memlog.py', 'text/plain'],
    ['bmad://core/bmad-help/SKILL.md', 'text/markdown'],
  ])('hands out %s whole, as %s', async (uri, mimeType) => {
    const { data } = await session.ok(readResource, { uri });
    expect(data).toEqual({
      mimeType,
      text: await readFile(join(contentRoot, uri.slice('bmad://'.length)), 'utf8'),
    });
  });

  it('serves the manifests as CSV, and the master manifest with every record as JSON', async () => {
    const agents = (await session.ok(readResource, { uri: 'bmad://manifests/agents' })).data;
    expect(agents['mimeType']).toBe('text/csv');
    const [header, analyst] = (agents['text'] as string).split('\n');
    expect(header).toBe(
      'name,displayName,title,icon,role,identity,communicationStyle,principles,module,path,canonicalId',
    );
    expect(analyst).toMatch(
      /^bmad-agent-analyst,Mary,Business Analyst,📊,Help the user ideate .*,bmm,_bmad\/bmm\/agents\/bmad-agent-analyst\/SKILL\.md,bmad-agent-analyst$/u,
    );
    const master = (await session.ok(readResource, { uri: 'bmad://manifests/master.json' })).data;
    const { agents: records, modules } = JSON.parse(master['text'] as string) as {
      agents: Record<string, unknown>[];
      modules: { code: string }[];
    };
    expect(modules.map(({ code }) => code)).toEqual(['bmm', 'core']);
    expect(records[0]).toMatchObject({
      kind: 'agent',
      source: 'manifest',
      origin: { kind: 'package', priority: 9 },
      moduleName: 'bmm',
      bmadVersion: '6.12.0',
      name: 'bmad-agent-analyst',
      displayName: 'Mary',
      bmadRelativePath: '_bmad/bmm/agents/bmad-agent-analyst/SKILL.md',
      moduleRelativePath: 'bmm/agents/bmad-agent-analyst/SKILL.md',
      exists: true,
      status: 'verified',
    });
  });

  it('shows the configuration in force, with its secrets masked', async () => {
    const { ok, folder } = await openSession(afterAll);
    const current = async (): Promise<string> =>
      (await ok(readResource, { uri: 'bmad://config/current' })).data['text'] as string;
    expect(await current()).toContain('from:\n  - the values of the modules\n');
    await writeFiles(folder, {
      '_bmad/config.toml':
        '[core]\nuser_name = "Ada"\n[modules.tea]\nregistry = "https://ada:hunter2@example.org/x"\n' +
        'mirrors = ["https://t0ken:@example.org", "plain"]\n[modules.tea.service]\napi_key = "abc"\n' +
        '[[modules.tea.accounts]]\nname = "one"\npassword = "def"\n',
      '_bmad/custom/config.toml': '[core]\nuser_name = "Grace"\naccess_token = "ghi"\n',
    });
    const text = await current();
    expect(text).toContain(`project_root: ${folder}\n`);
    expect(text).toContain('from:\n  - _bmad/config.toml\n  - _bmad/custom/config.toml\n');
    expect(text).toContain('user_name: Grace');
    for (const secret of ['hunter2', 't0ken', 'abc', 'def', 'ghi']) expect(text).not.toContain(secret);
    for (const kept of ['example.org/x', 'plain', 'name: one']) expect(text).toContain(kept);
    expect(text.match(/: "?\*\*\*"?$/gm)).toHaveLength(3);
  });

  it('serves no password of a configuration file, whatever tool it is for (S-16)', async () => {
    const { ok, folder } = await openSession(afterAll);
    const served = {
      '.env.example': [
        'DB_PASS=korn7blume\nPGPASSWORD=amsel44\nNAME=x\n',
        'DB_PASS=***\nPGPASSWORD=***\nNAME=x\n',
      ],
      'mail.yaml': [
        'pass: korn7blume\nsmtp_pass: amsel44\nuser_pass: "ufer9"\nfirst_pass: lint\n',
        'pass: ***\nsmtp_pass: ***\nuser_pass: "***"\nfirst_pass: lint\n',
      ],
      'mcp.json': [
        '{"args": ["--api-key", "korn7blume"], "max_tokens": 5}',
        '{"args": ["--api-key", "***"], "max_tokens": 5}',
      ],
    } as const;
    for (const [name, [text]] of Object.entries(served))
      await writeFiles(folder, { [`_bmad/custom/${name}`]: text, '_bmad/config.toml': '[core]\n' });
    for (const [name, [, masked]] of Object.entries(served)) {
      const { data } = await ok(readResource, { uri: `bmad://custom/${name}` });
      expect(data['text'], name).toBe(masked);
    }
  });

  it('serves no file that is there for passwords (S-16)', async () => {
    const { fail, folder } = await openSession(afterAll);
    await writeFiles(folder, {
      '_bmad/custom/.env': 'DB_PASS=korn7blume\n',
      '_bmad/config.toml': '[core]\n',
    });
    expect((await fail(readResource, { uri: 'bmad://custom/.env' })).code).toBe('not_found');
  });

  it('shows the configuration of version 4', async () => {
    const { ok, folder } = await openSession(afterAll, { flags: { discovery: 'local' } });
    await writeFiles(folder, {
      '.bmad-core/core-config.yaml': 'prd:\n  prdFile: docs/prd.md\n  apiToken: abcdef\n',
      '.bmad-core/agents/pm.md': '# pm\n```yaml\nagent:\n  id: pm\n  name: John\n```\n',
    });
    const { data } = await ok(readResource, { uri: 'bmad://config/current' });
    expect(data['mimeType']).toBe('application/x-yaml');
    expect(data['text']).toContain('bmad://.bmad-core/core-config.yaml');
    expect(data['text']).toContain('core_config:\n  prd:\n    prdFile: docs/prd.md\n    apiToken: "***"\n');
  });

  it('finds agents, workflows and knowledge by name, with or without their module', async () => {
    const { ok, fail, folder } = await openSession(afterAll, { flags: { discovery: 'local' } });
    await writeFiles(folder, {
      'bmad/_cfg/manifest.yaml': 'installation:\n  version: 6.0.0-alpha.7\nmodules:\n  - bmm\n  - cis\n',
      'bmad/bmm/agents/pm.md': agent('bmm'),
      'bmad/cis/agents/pm.md': agent('cis'),
      'bmad/bmm/testarch/knowledge/risk.md': '# Risk\n',
      'bmad/bmm/testarch/tea-index.csv':
        'id,name,description,tags,fragment_file\nrisk,Risk,About risk,risk,knowledge/risk.md\n',
    });
    const textAt = async (uri: string): Promise<unknown> => (await ok(readResource, { uri })).data['text'];
    expect(await textAt('bmad://agents/pm')).toBe(agent('bmm'));
    expect(await textAt('bmad://agents/cis%2Fpm')).toBe(agent('cis'));
    expect(await textAt('bmad://agents/bmm/pm')).toBe(agent('bmm'));
    expect(await textAt('bmad://knowledge/risk')).toBe('# Risk\n');
    expect((await fail(readResource, { uri: 'bmad://knowledge/rsk' })).suggestions).toEqual(['risk']);
    expect((await fail(readResource, { uri: 'bmad://workflows/x/y.md' })).message).toContain('no file');
    expect((await ok(complete, { what: 'knowledge', value: '' })).data['values']).toEqual(['risk']);
    expect((await ok(complete, { what: 'agent', value: '' })).data['values']).toEqual(['pm', 'cis/pm']);
  });

  it('suggests the file that was meant', async () => {
    const error = await session.fail(readResource, { uri: 'bmad://bmm/agents/bmad-agent-architect/SKIL.md' });
    expect(error).toMatchObject({
      code: 'not_found',
      subject: 'bmad://bmm/agents/bmad-agent-architect/SKIL.md',
      suggestions: ['bmad://bmm/agents/bmad-agent-architect/SKILL.md'],
    });
  });
});
