import { describe, expect, it } from 'vitest';
import { execute } from '../../src/operations/execute.ts';
import { bmad } from '../../src/operations/unified/bmad.ts';
import { testCall } from '../support/app.ts';
import { project } from '../support/install-project.ts';
import type { Version } from '../support/installs.ts';

/** A client at work in a project of a version. */
async function reader(version: Version) {
  const { context } = await project(version);
  const outcome = (args: Record<string, unknown>) =>
    execute(bmad, { operation: 'read', ...args }, context, testCall());
  return {
    async read(args: Record<string, unknown>) {
      const found = await outcome(args);
      if (!found.ok) throw found.error;
      return (found.data as { result: { uri: string } }).result.uri;
    },
    async refused(uri: string) {
      const found = await outcome({ uri });
      if (found.ok) throw new Error(`${uri} was read`);
      return found.error;
    },
  };
}

const EPICS = 'bmad://bmm/workflows/3-solutioning/create-epics-and-stories';
const STEP = 'steps/step-01-validate-prerequisites.md';

describe('paths of a text', () => {
  it('are relative to the workflow that the call names', async () => {
    const { read } = await reader('6.0.4');
    for (const uri of [`./${STEP}`, STEP])
      expect(await read({ workflow: 'create-epics-and-stories', uri })).toBe(`${EPICS}/${STEP}`);
    const folder = 'bmad://core/workflows/brainstorming';
    expect(await read({ workflow: 'brainstorming', uri: '{template_path}' })).toBe(`${folder}/template.md`);
  });

  it('are answered with files of the project where no workflow is named, and none of another version', async () => {
    const { refused } = await reader('6.0.4');
    for (const path of [`./${STEP}`, STEP, './steps/step-01-init.md']) {
      const { suggestions } = await refused(path);
      expect(suggestions).not.toEqual([]);
      expect(
        suggestions.filter((uri) => !uri.startsWith('bmad://b') && !uri.startsWith('bmad://core/')),
      ).toEqual([]);
      expect(suggestions.join(' ')).not.toMatch(/skills|bmad-/);
    }
  });
});

describe('a path without its ending', () => {
  it('is the one file that has one', async () => {
    const { read, refused } = await reader('4.44.3');
    for (const path of [
      '.bmad-core/checklists/story-draft-checklist',
      'bmad://.bmad-core/checklists/story-draft-checklist',
    ])
      expect(await read({ uri: path })).toBe('bmad://.bmad-core/checklists/story-draft-checklist.md');
    const { message } = await refused('.bmad-core/checklists/story-draf');
    expect(message).toContain('story-draf');
  });
});
