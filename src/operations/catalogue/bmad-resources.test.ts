import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contentRoot } from '../../../tests/support/app.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { bmadResources } from './details.ts';

const session = await openSession(afterAll);
const ask = async (args: Record<string, unknown>): Promise<string> =>
  (await session.ok(bmadResources, args)).answer.body;

describe('bmad-resources', () => {
  it('reads a file byte for byte', async () => {
    expect(await ask({ operation: 'read', uri: 'bmad://bmm/module.yaml' })).toBe(
      await readFile(join(contentRoot, 'bmm/module.yaml'), 'utf8'),
    );
  });

  it('lists files, all or those of a pattern', async () => {
    expect(await ask({ operation: 'list', pattern: 'bmm/*.yaml' })).toBe(
      '- bmad://bmm/config.yaml\n- bmad://bmm/module.yaml',
    );
    expect(await ask({ operation: 'list' })).toContain('- bmad://_config/');
  });

  it('lists modules, agents and workflows', async () => {
    expect(await ask({ operation: 'modules' })).toContain('**bmm**');
    expect(await ask({ operation: 'agents' })).toContain('**architect** Winston');
    expect(await ask({ operation: 'workflows' })).toContain('**prd**');
  });

  it('searches, among agents only if so asked', async () => {
    const found = await ask({ operation: 'search', query: 'product manager', type: 'agents' });
    expect(found.split('\n')[0]).toContain('**pm** John');
    expect(found).not.toContain('**prd**');
    expect(await ask({ operation: 'search', query: 'prd' })).toContain('**prd**');
  });

  it.each([
    [{ operation: 'read' }, 'bmad-resources: read needs "uri".'],
    [{ operation: 'search' }, 'bmad-resources: search needs "query".'],
    [{ operation: 'agents', pattern: 'x' }, '"pattern" filters resources, not agents.'],
    [{}, 'bmad-resources: "operation" is missing: one of read, list,'],
    [
      { operation: 'delete' },
      'bmad-resources: "operation" must be one of read, list, modules, agents, workflows, search, not "delete".',
    ],
    [
      { operation: 'search', query: 'x', type: 'files' },
      'bmad-resources: "type" must be one of agents, workflows, all, not "files".',
    ],
    [{ operation: 'list', pattern: '../**' }, 'The pattern "../**" leaves the BMAD content.'],
    [{ operation: 'list', pattern: 'a'.repeat(300) }, 'The pattern is 300 characters long.'],
    [{ operation: 'read', uri: 'bmad://../secret' }, 'bmad://../secret'],
    [{ operation: 'read', uri: 'file:///etc/passwd' }, 'file:///etc/passwd'],
  ])('refuses %j', async (args, message) => {
    expect((await session.fail(bmadResources, args)).message).toContain(message);
  });

  it('gets through a pattern made to hang a matcher', async () => {
    expect(await ask({ operation: 'list', pattern: `${'**/*a*'.repeat(40)}b` })).toBe('No resources.');
    expect(await ask({ operation: 'list', pattern: '*'.repeat(256) })).toContain('bmad://');
  });

  it('suggests files near one that is not there', async () => {
    const error = await session.fail(bmadResources, { operation: 'read', uri: 'bmad://core/confg.yaml' });
    expect(error.suggestions).toContain('bmad://core/config.yaml');
  });
});
