import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contentRoot } from '../../tests/support/app.ts';
import { openSession } from '../../tests/support/operations.ts';
import { listResources, readResource } from './resources.ts';

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
    expect((agents['text'] as string).split('\n').slice(0, 2)).toEqual([
      'name,displayName,title,icon,role,identity,communicationStyle,principles,module,path,canonicalId',
      'bmad-agent-analyst,Mary,Business Analyst,📊,,,,,bmm,bmm/agents/bmad-agent-analyst/SKILL.md,bmad-agent-analyst',
    ]);
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
      bmadRelativePath: 'bmm/agents/bmad-agent-analyst/SKILL.md',
      moduleRelativePath: 'agents/bmad-agent-analyst/SKILL.md',
      exists: true,
      status: 'verified',
    });
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
