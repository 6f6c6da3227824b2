import { describe, expect, it, onTestFinished } from 'vitest';
import { activate } from '../../src/operations/activation/activate.ts';
import { execute } from '../../src/operations/execute.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';

describe('the menu codes of what is built in', () => {
  it('work beside a skill that a host keeps for the user', async () => {
    const folder = await temporaryFolder(onTestFinished);
    const skill = '---\nname: bmad-foo\ndescription: Does foo. Use when foo is wanted\n---\n\n# Foo\n';
    await writeFiles(folder, {
      'home/.claude/skills/bmad-foo/SKILL.md': skill,
      'project/README.md': '# Shop\n',
    });
    const context = await contextIn(`${folder}/project`, { home: `${folder}/home` });
    onTestFinished(() => context.close());
    const outcome = await execute(activate, { name: 'BP' }, context, testCall());
    expect(outcome.ok ? outcome.data['name'] : outcome.error.text).toBe('core/bmad-brainstorming');
    const own = await execute(activate, { name: 'bmad-foo' }, context, testCall());
    expect(own.ok).toBe(true);
  });
});
