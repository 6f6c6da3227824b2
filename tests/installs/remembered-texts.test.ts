import { beforeEach, describe, expect, it } from 'vitest';
import { execute } from '../../src/operations/execute.ts';
import { bmad } from '../../src/operations/unified/bmad.ts';
import { newConversation } from '../../src/surfaces/mcp/conversations.ts';
import { testCall } from '../support/app.ts';
import { project } from '../support/install-project.ts';
import type { Version } from '../support/installs.ts';

/** One conversation in a project of a version. */
async function conversation(version: Version) {
  const { context } = await project(version);
  const call = { ...testCall(), recent: newConversation(true).recent };
  const outcome = (operation: string, args: Record<string, unknown>) =>
    execute(bmad, { operation, ...args }, context, call);
  return {
    async start(args: Record<string, unknown>) {
      const started = await outcome('execute', args);
      if (!started.ok) throw started.error;
      return started;
    },
    async read(uri: string) {
      const found = await outcome('read', { uri });
      if (!found.ok) throw found.error;
      return (found.data as { result: { uri: string } }).result.uri;
    },
    async refused(uri: string) {
      const found = await outcome('read', { uri });
      if (found.ok) throw new Error(`${uri} was read`);
      return found.error;
    },
  };
}

const EPICS = 'bmad://bmm/workflows/3-solutioning/create-epics-and-stories';
const STEP = 'steps/step-01-validate-prerequisites.md';

describe('paths in a text that came in any way', () => {
  let talk: Awaited<ReturnType<typeof conversation>>;
  beforeEach(async () => {
    talk = await conversation('6.0.4');
  });

  it.each([
    ['agent and code', { agent: 'John', message: 'CE' }],
    ['code alone', { command: 'CE' }],
    ['name', { workflow: 'create-epics-and-stories' }],
  ])('are relative to it: %s', async (_way, args) => {
    await talk.start(args);
    for (const path of [`./${STEP}`, STEP]) expect(await talk.read(path)).toBe(`${EPICS}/${STEP}`);
    // The step is the latest text now, and names places in its front matter.
    const at = (name: string): string => `${EPICS}/steps/${name}.md`;
    expect(await talk.read('{nextStepFile}')).toBe(at('step-02-design-epics'));
    expect(await talk.read('bmad://%7BnextStepFile%7D')).toBe(at('step-03-create-stories'));
    expect(await talk.read('./step-02-design-epics.md')).toBe(at('step-02-design-epics'));
    expect(await talk.read('{epicsTemplate}')).toBe(`${EPICS}/templates/epics-template.md`);
    expect(await talk.read('{advancedElicitationTask}')).toBe(
      'bmad://core/workflows/advanced-elicitation/workflow.xml',
    );
  });

  it('and names of places that the workflow of a step gives lead there', async () => {
    const folder = 'bmad://core/workflows/brainstorming';
    await talk.start({ agent: 'analyst', message: 'BP' });
    await talk.read(`${folder}/steps/step-01-session-setup.md`);
    expect(await talk.read('{template_path}')).toBe(`${folder}/template.md`);
  });

  it('names files of the project where no text was given, and none of another version', async () => {
    for (const path of [`./${STEP}`, STEP, './steps/step-01-init.md']) {
      const { suggestions } = await talk.refused(path);
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
    const talk = await conversation('4.44.3');
    for (const path of [
      '.bmad-core/checklists/story-draft-checklist',
      'bmad://.bmad-core/checklists/story-draft-checklist',
    ])
      expect(await talk.read(path)).toBe('bmad://.bmad-core/checklists/story-draft-checklist.md');
    const { message } = await talk.refused('.bmad-core/checklists/story-draf');
    expect(message).toContain('story-draf');
  });
});
