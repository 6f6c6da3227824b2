import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contentRoot } from '../../../tests/support/app.ts';
import { installOf } from '../../../tests/support/installs.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { getKnowledge } from './details.ts';

const folder = await installOf('6.0.0-alpha.7');
const alpha = await openSession(afterAll, { flags: { project: folder, discovery: 'local' } });
const newest = await openSession(afterAll);

describe('get_knowledge', () => {
  it('gives the whole index first', async () => {
    const { answer, data } = await alpha.ok(getKnowledge, { domain: 'testarch' });
    expect(answer.body.match(/^- \*\*/gm)).toHaveLength(21);
    expect(answer.body).toContain(
      '- **network-first** Network-First Safeguards [network, stability, playwright, cypress]: ',
    );
    expect(answer.note).toContain('Index of testarch, 21 fragments');
    expect(data['fragments']).toEqual([]);
    expect(Buffer.byteLength(answer.body)).toBeLessThanOrEqual(10_000);
  });

  it('gives one fragment byte for byte', async () => {
    const args = { domain: 'testarch', fragment: 'test-levels-framework' };
    const parts: string[] = [];
    let cursor: unknown;
    do {
      const { answer, data } = await alpha.ok(getKnowledge, {
        ...args,
        ...(cursor === undefined ? {} : { cursor }),
      });
      parts.push(answer.body);
      cursor = data['next'];
    } while (cursor !== undefined);
    const file = join(folder, 'bmad/bmm/testarch/knowledge/test-levels-framework.md');
    expect(parts.join('')).toBe(await readFile(file, 'utf8'));
  });

  it('gives all fragments with a tag, in parts', async () => {
    const one = await alpha.ok(getKnowledge, { domain: 'testarch', tag: 'Pact' });
    expect(one.data['fragments']).toEqual(['bmad://bmm/testarch/knowledge/contract-testing.md']);
    const { data, answer } = await alpha.ok(getKnowledge, { domain: 'testarch', tag: 'playwright' });
    expect((data['fragments'] as string[]).length).toBeGreaterThan(2);
    expect(answer.body).toContain('<!-- bmad://bmm/testarch/knowledge/fixture-architecture.md -->');
    expect(data['next']).toBeDefined();
  });

  it('knows other names of a domain, and one with its module', async () => {
    expect((await alpha.ok(getKnowledge, { domain: 'TEA' })).data['domain']).toBe('testarch');
    expect((await alpha.ok(getKnowledge, { domain: 'bmm/testarch' })).data['module']).toBe('bmm');
  });

  it('serves the data folders of the newest BMAD', async () => {
    const { answer } = await newest.ok(getKnowledge, { domain: 'prd', fragment: 'validate' });
    expect(answer.body).toBe(
      await readFile(join(contentRoot, 'bmm/plan/bmad-prd/references/validate.md'), 'utf8'),
    );
  });

  it('answers a wrong domain, fragment or tag with those there are', async () => {
    const domain = await alpha.fail(getKnowledge, { domain: 'testarc' });
    expect([domain.code, domain.hint]).toEqual(['not_found', expect.stringContaining('testarch')]);
    const fragment = await alpha.fail(getKnowledge, { domain: 'testarch', fragment: 'network-frist' });
    expect(fragment.suggestions[0]).toBe('network-first');
    const tag = await alpha.fail(getKnowledge, { domain: 'testarch', tag: 'playwrigth' });
    expect(tag.suggestions[0]).toBe('playwright');
    expect(tag.hint).toContain('api');
    const both = await alpha.fail(getKnowledge, {
      domain: 'testarch',
      tag: 'api',
      fragment: 'network-first',
    });
    expect(both.message).toContain('not both');
    expect((await newest.fail(getKnowledge, { domain: 'prd', tag: 'x' })).hint).toContain('no tags');
  });
});
