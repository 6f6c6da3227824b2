import { afterAll, describe, expect, it } from 'vitest';
import { openSession } from '../../tests/support/operations.ts';
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
