import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { findPrompt, listPrompts, type PromptItem } from './prompts.ts';

const session = await openSession(afterAll);
const { items } = (await session.ok(listPrompts)).data as unknown as { items: PromptItem[] };

describe('prompts', () => {
  it('has one for each agent, workflow and plain skill, with unique names hosts accept', () => {
    expect(items.length).toBe(29);
    expect(new Set(items.map(({ name }) => name)).size).toBe(29);
    for (const { name } of items) expect(name).toMatch(/^bmad-[a-z0-9-]{1,50}$/);
  });

  it('names them by the short id, without doubling the prefix', () => {
    const names = items.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['bmad-architect', 'bmad-prd', 'bmad-help', 'bmad-party-mode']),
    );
    expect(names.some((name) => name.startsWith('bmad-bmad') || name.startsWith('bmad-agent'))).toBe(false);
  });

  it('gives everything a name of its own, whatever it is called, and the same one each time', async () => {
    const folder = await temporaryFolder(afterAll);
    const skill = (name: string): Record<string, string> => ({
      [`_bmad/mm/${name}/SKILL.md`]: `---\nname: ${name}\ndescription: Does a thing\n---\n# X\n`,
    });
    await writeFiles(folder, {
      '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.2.0\nmodules:\n  - mm\n',
      ...skill('架构师'),
      ...skill('产品'),
      ...skill('a b'),
      ...skill('a.b'),
      ...skill('a+b'),
      ...skill(`long-${'x'.repeat(80)}`),
    });
    const names = async (): Promise<string[]> => {
      const own = await openSession(afterAll, { flags: { project: folder, discovery: 'local' } });
      return ((await own.ok(listPrompts)).data['items'] as PromptItem[]).map(({ name }) => name);
    };
    const found = await names();
    expect(found).toHaveLength(6);
    expect(new Set(found).size).toBe(6);
    for (const name of found) expect(name).toMatch(/^bmad-[a-z0-9_-]{1,55}$/);
    expect(await names()).toEqual(found);
  });

  it('decides between modules as the tools do: the name alone is nobody’s where it is two’s (A-2)', async () => {
    const folder = await temporaryFolder(afterAll);
    const pack = (code: string): Record<string, string> => ({
      [`_bmad/${code}/agents/guide.md`]: `---\nname: guide\ndescription: Guides ${code}\n---\n<agent id="g" name="G" title="Guide"><persona><role>Guide</role></persona></agent>\n`,
    });
    await writeFiles(folder, {
      '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.4\nmodules:\n  - one\n  - two\n',
      ...pack('one'),
      ...pack('two'),
    });
    const own = await openSession(afterAll, { flags: { project: folder, discovery: 'local' } });
    const names = ((await own.ok(listPrompts)).data['items'] as PromptItem[]).map(({ name }) => name);
    expect(names.sort()).toEqual(['bmad-one-guide', 'bmad-two-guide']);
    const refused = await own.fail(findPrompt, { name: 'bmad-guide' });
    expect([refused.code, refused.suggestions]).toEqual(['ambiguous', ['one/guide', 'two/guide']]);
  });

  it('finds one by name', async () => {
    expect((await session.ok(findPrompt, { name: 'bmad-architect' })).data).toMatchObject({
      title: 'Winston, System Architect',
      kind: 'agent',
      target: 'bmm/bmad-agent-architect',
    });
  });

  it('suggests a near one', async () => {
    const error = await session.fail(findPrompt, { name: 'bmad-architct' });
    expect(error.message).toBe('There is no prompt "bmad-architct".');
    expect(error.suggestions[0]).toBe('bmad-architect');
  });
});
