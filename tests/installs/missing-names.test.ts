import { describe, expect, it } from 'vitest';
import { activate } from '../../src/operations/activation/activate.ts';
import { read } from '../../src/operations/catalogue/read.ts';
import { execute } from '../../src/operations/execute.ts';
import { testCall } from '../support/app.ts';
import { project } from '../support/install-project.ts';
import type { Version } from '../support/installs.ts';

async function noteIn(version: Version, name: string): Promise<string | undefined> {
  const { answer } = await (await project(version)).ask(activate, { name });
  return /^- Named, but not.*$/m.exec(answer.body)?.[0];
}

describe('a file that a text names and the install does not have', () => {
  it('is announced in a line, so that nobody looks for it', async () => {
    expect(await noteIn('6.0.4', 'create-story')).toBe(
      '- Named, but not in this install: `core/tasks/validate-workflow.xml`. Do not look for it; do yourself what its name describes.',
    );
    expect(await noteIn('6.0.4', 'dev-story')).toBeUndefined();
  });

  it('is not looked for in vain: whoever reads it is told to do without', async () => {
    const { context } = await project('6.0.4');
    const outcome = await execute(
      read,
      { target: '_bmad/core/tasks/validate-workflow.xml' },
      context,
      testCall(),
    );
    expect(outcome.ok ? '' : outcome.error.hint).toBe(
      'If a text of BMAD names it, it is not part of this install: do without it.',
    );
  });

  it('is read under the name that it has, where a text only has the ending wrong', async () => {
    const { context } = await project('4.44.3');
    const target = '.bmad-core/data/technical-preferences.yaml';
    const outcome = await execute(read, { target }, context, testCall());
    if (!outcome.ok) throw outcome.error;
    expect(outcome.data).toMatchObject({
      uri: 'bmad://.bmad-core/data/technical-preferences.md',
      insteadOf: 'technical-preferences.yaml',
    });
    expect(outcome.answer.note).toContain(
      'There is no "technical-preferences.yaml"; this is the file that is meant.',
    );
    const image = { target: '.bmad-core/data/technical-preferences.png' };
    const none = await execute(read, image, context, testCall());
    expect(none.ok ? '' : none.error.hint).toContain('do without it');
  });

  it('is said to be there where it only has another ending', async () => {
    expect(await noteIn('4.44.3', 'bmad-2d-phaser-game-dev/create-game-story')).toBe(
      '- Named, but not in this install: `.bmad-2d-phaser-game-dev/templates/game-story-tmpl.md` (read `bmad://.bmad-2d-phaser-game-dev/templates/game-story-tmpl.yaml`).',
    );
    // The dot of the folder is missing besides.
    expect(await noteIn('4.44.3', 'validate-next-story')).toBe(
      '- Named, but not in this install: `.bmad-core/templates/story-tmpl.md` (read `bmad://.bmad-core/templates/story-tmpl.yaml`).',
    );
  });
});
