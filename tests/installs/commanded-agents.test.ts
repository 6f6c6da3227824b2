import { describe, expect, it } from 'vitest';
import { saidIn } from '../support/operations.ts';
import { bmad } from '../../src/operations/unified/bmad.ts';
import { project, projectAt } from '../support/install-project.ts';
import { installOf, type Version } from '../support/installs.ts';
import { ofUsual } from '../support/how-much.ts';

interface Case {
  version: Version;
  args: Record<string, string>;
  /** What is started, and a line of its text. */
  starts: string;
  says: string;
  /** Files that belong to it. */
  beside?: string[];
}

const DRAFT: Omit<Case, 'args'> = {
  version: '4.44.3',
  starts: 'bmad-core/create-next-story',
  says: '# Create Next Story Task',
  beside: ['.bmad-core/templates/story-tmpl.yaml', '.bmad-core/checklists/story-draft-checklist.md'],
};
const PRD_4: Omit<Case, 'args'> = {
  version: '4.44.3',
  starts: 'bmad-core/create-doc',
  says: '# Create Document from Template',
  beside: ['.bmad-core/templates/prd-tmpl.yaml'],
};

const CASES: Case[] = [
  { ...DRAFT, args: { agent: 'sm', message: '*draft' } },
  { ...DRAFT, args: { agent: 'sm', message: '*draft the next one, please' } },
  { ...DRAFT, args: { command: '*draft' } },
  { ...PRD_4, args: { agent: 'pm', message: '*create-prd' } },
  { ...PRD_4, args: { command: '*create-prd' } },
  {
    version: '4.44.3',
    args: { agent: 'qa', message: '*review docs/stories/1.1.a.md' },
    starts: 'bmad-core/review-story',
    says: '# review-story',
  },
  ...(['CP', '*create-prd', 'create-prd'] as const).map((message): Case => ({
    version: '6.0.4',
    args: { agent: 'pm', message },
    starts: 'bmm/create-prd',
    says: 'workflow-create-prd.md -----',
  })),
  {
    version: '6.0.0-alpha.22',
    args: { agent: 'pm', message: '*create-prd' },
    starts: 'bmm/create-prd',
    says: 'prd/workflow.md -----',
  },
];

describe('an agent that is told an entry of its menu', () => {
  it.each(ofUsual(CASES.map((one) => [one.version, JSON.stringify(one.args), one] as const)))(
    '%s %s comes with what that starts',
    async (_version, _args, { version, args, starts, says, beside = [] }) => {
      const { ask } = await project(version);
      const { answer, data } = await ask(bmad, { operation: 'execute', ...args });
      const { result } = data as { result: Record<string, unknown> };
      expect(result['starts']).toEqual({ name: starts, kind: 'workflow' });
      expect(answer.body).toContain('Become this agent now');
      expect(answer.body).toContain(`${starts}, which follows; run it as this agent.`);
      expect(answer.body).toContain(says);
      for (const path of beside) expect(answer.body).toContain(`bmad://${path}`);
      expect(Buffer.byteLength(answer.body)).toBeLessThan(33_600);
    },
  );

  it.each([
    ['4.44.3', 'sm', '*help'],
    ['4.44.3', 'sm', 'Draft the next story'],
    ['6.0.4', 'pm', 'Create a PRD for a shop'],
    ['6.0.4', 'pm', 'CH'],
  ] as const)('%s %s %s comes alone', async (version, agent, message) => {
    const { ask } = await project(version);
    const { answer, data } = await ask(bmad, { operation: 'execute', agent, message });
    expect((data as { result: object }).result).not.toHaveProperty('starts');
    expect(saidIn(answer)).not.toContain('stands for');
  });

  it('continues with the work where that is long, by its name or by the same call', async () => {
    const { ask } = await projectAt(await installOf('4.44.3'), { answerBytes: '9000' });
    const call = { operation: 'execute', agent: 'sm', message: '*draft' };
    const first = await ask(bmad, call);
    const { next: cursor } = (first.data as { result: { next?: string } }).result;
    const name = 'bmad-core/create-next-story';
    expect(first.answer.steps).toEqual([
      {
        operation: 'execute',
        args: { name, kind: 'workflow', cursor },
        why: 'Read on before going past this part',
      },
    ]);
    const more = await ask(bmad, { operation: 'execute', workflow: name, cursor });
    expect(more.answer.body).toContain('----- END bmad://.bmad-core/tasks/create-next-story.md');
    expect((await ask(bmad, { ...call, cursor })).answer.body).toBe(more.answer.body);
  });
});
