import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, testCall } from '../support/app.ts';
import { conversation } from '../support/conversation.ts';
import { progressProject } from '../support/progress-project.ts';
import { plain } from '../support/progress-trees/pieces.ts';
import { execute } from '../../src/operations/execute.ts';
import { read } from '../../src/operations/catalogue/read.ts';

const PLANS = '_bmad-output/planning-artifacts';
const STEPS = 'bmad://bmm/workflows/3-solutioning/create-epics-and-stories/steps';
const upTo = (step: number): string =>
  `---\nstepsCompleted: [${Array.from({ length: step }, (_, index) => index + 1).join(', ')}]\n---\n${plain}`;

const { folder, fill } = await progressProject(afterAll, '6.0.4');
const within = await contextIn(folder);
const documentsOf = async (workflow: string): Promise<string[]> =>
  (await conversation(within)({ workflow })).body.match(/^- (?:brief|prd|architecture|epics): .*$/gm) ?? [];

describe('the documents that a workflow of 6.0 asks for', () => {
  it('are named where only its steps ask for them, also if it shares its folder', async () => {
    await fill({ [`${PLANS}/product-brief-shop.md`]: upTo(5) });
    expect(await documentsOf('create-prd')).toEqual([`- brief: ${PLANS}/product-brief-shop.md`]);
  });

  it('have the step to go on with, in the workflow that writes them', async () => {
    await fill({
      [`${PLANS}/prd.md`]: upTo(12),
      [`${PLANS}/architecture.md`]: upTo(8),
      [`${PLANS}/epics.md`]: upTo(3),
    });
    const epics = `- epics: ${PLANS}/epics.md (in progress`;
    expect(await documentsOf('create-epics-and-stories')).toContain(
      `${epics}; continue with step 4, ${STEPS}/step-04-final-validation.md)`,
    );
    expect(await documentsOf('sprint-planning')).toContain(`${epics})`);
    await fill({ [`${PLANS}/prd.md`]: upTo(3) });
    expect(await documentsOf('create-prd')).toContain(
      `- prd: ${PLANS}/prd.md (in progress; continue with step 4, bmad://bmm/workflows/2-plan-workflows/create-prd/steps-c/step-04-journeys.md)`,
    );
  });

  it('have none where parts of the step that is marked may be left', async () => {
    await fill({ [`${PLANS}/prd.md`]: upTo(2) });
    expect(await documentsOf('create-prd')).toContain(`- prd: ${PLANS}/prd.md (in progress)`);
  });

  it('have a step file that is read by the beginning of its name', async () => {
    const outcome = await execute(read, { target: `${STEPS}/step-04.md` }, within, testCall());
    expect(outcome.ok ? {} : outcome.error).toMatchObject({
      hint: 'If a text of BMAD names it, "step-04-final-validation.md" is meant: read that.',
    });
    expect(outcome.ok ? [] : outcome.error.suggestions?.[0]).toBe(`${STEPS}/step-04-final-validation.md`);
  });
});
