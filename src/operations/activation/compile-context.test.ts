import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { KIT_FILES, writeFiles } from '../../../tests/support/kit-project.ts';
import { estimateTokens } from '../../base/text/text-budget.ts';
import { bmad } from '../unified/bmad.ts';
import { compileContext } from './compile-context.ts';
import { logDecision, logLearning } from '../memory/remember.ts';
import type { Context } from '../context.ts';
import { execute } from '../execute.ts';
import { saidIn } from '../../../tests/support/operations.ts';
import { toolCall } from '../unified/forms.ts';

const legal = `## Legal\n\n${'The imprint names the owner of the shop and the court that is in charge. '.repeat(3)}\n`;
const PROJECT = {
  ...KIT_FILES,
  '_bmad/config.user.toml': '[core]\nuser_name = "Ada"\n',
  '_bmad-output/planning-artifacts/prd.md': `# PRD\n\nA shop for used books.\n\n## Cart\n\nThe cart keeps books for a month.\n\n## Marketing\n\n${'Posters in every library of the town, and nothing else. '.repeat(200)}\n\n${legal}`,
  '_bmad-output/planning-artifacts/architecture.md': `# Architecture\n\n## Database\n\nPostgreSQL.\n\n${legal}`,
  '_bmad-output/implementation-artifacts/sprint-status.yaml':
    'development_status:\n  epic-1: in-progress\n  1-1-login: done\n  1-2-cart: in-progress\n',
  '_bmad-output/implementation-artifacts/1-1-login.md':
    '# Story 1.1: Login\n\nStatus: done\n\n## Story\n\nOld news.\n',
  '_bmad-output/implementation-artifacts/1-2-cart.md':
    '# Story 1.2: Cart\n\nStatus: in-progress\n\n## Story\n\nAs a buyer I want a cart.\n',
};

interface Data {
  text: string;
  budget: number;
  capped: boolean;
  complete: boolean;
  needed: number;
  included: { title: string; source?: string }[];
  leftOut: { title: string; source?: string; why: string }[];
}

async function shop(files: Readonly<Record<string, string>> = PROJECT): Promise<Context> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, files);
  return contextIn(folder, { home: await temporaryFolder(afterAll) });
}

async function compiled(context: Context, input: Record<string, unknown>): Promise<Data & { whole: string }> {
  const outcome = await execute(compileContext, input, context, testCall());
  if (!outcome.ok) throw outcome.error;
  return {
    ...(outcome.data as unknown as Data),
    whole: `${outcome.answer.body}\n\n${saidIn(outcome.answer)}`,
  };
}

const MESSAGE = 'Why do the tests of the cart fail, and which database has it?';

describe('the context of an agent', () => {
  it('has its persona, the current story, the plans, and what the project remembers', async () => {
    const context = await shop();
    const { text, included, complete } = await compiled(context, {
      name: 'dev',
      message: MESSAGE,
      budget: 8_000,
    });
    expect(complete).toBe(true);
    expect(text).toMatch(/^# Amelia/);
    expect(text).toContain(MESSAGE);
    expect(text).toContain('`{user_name}`: Ada');
    expect(text).toContain('As a buyer I want a cart.');
    expect(text).not.toContain('Old news.');
    expect(text).toContain('The cart keeps books for a month.');
    expect(text).toContain('Livré sans lancer les tests');
    expect(included.map(({ title }) => title)).toEqual(
      expect.arrayContaining(['Values', 'Customization', 'File', 'Project document (story)']),
    );
  });

  it('has what the agent has learned, whatever the question is about (M-59)', async () => {
    const context = await shop();
    const text = 'Pagination of the invoices starts at one';
    const logged = await execute(logLearning, { agent: 'dev', text }, context, testCall());
    expect(logged.ok).toBe(true);
    const asked = { message: 'Which colours do the posters have?', budget: 8_000 };
    expect((await compiled(context, { name: 'dev', ...asked })).text).toContain(text);
    expect((await compiled(context, { name: 'architect', ...asked })).text).not.toContain(text);
  });

  it('does not say the same thing twice, and is the same each time', async () => {
    const context = await shop();
    const one = await compiled(context, { name: 'dev', message: MESSAGE, budget: 8_000 });
    expect(one.text.split(legal.slice(12, 60))).toHaveLength(4);
    expect(one.text).toContain('Legal (see _bmad-output/planning-artifacts/prd.md)');
    expect((await compiled(context, { name: 'dev', message: MESSAGE, budget: 8_000 })).whole).toBe(one.whole);
  });

  it('leaves out first what is not about the matter, and says so', async () => {
    const context = await shop();
    const { text, leftOut, whole } = await compiled(context, {
      name: 'dev',
      message: MESSAGE,
      budget: 3_000,
    });
    expect(text).toContain('The cart keeps books for a month.');
    expect(text).not.toContain('Posters in every library');
    expect(text).toMatch(/## Left out\n[^]*prd\.md: no room for 1 of \d parts: Marketing/);
    expect(leftOut.length).toBeGreaterThan(0);
    expect(estimateTokens(whole)).toBeLessThanOrEqual(3_000);
  });

  it('needs no project, no memory and no documents', async () => {
    const context = await shop({ 'README.md': 'Nothing' });
    const { complete, leftOut } = await compiled(context, { name: 'architect' });
    expect([complete, leftOut]).toEqual([true, []]);
  });
});

describe('the story in a context', () => {
  const story = [
    '# Story 1.2: Cart\n\nStatus: in-progress\n',
    `## Story\n\n${'As a buyer I want a cart, and this is why. '.repeat(30)}\n`,
    '## Acceptance Criteria\n\n1. The cart keeps ten books.\n2. It is empty after the order.\n',
    '## Tasks / Subtasks\n\n- [x] Make the table\n- [ ] Empty it after the order\n\n### Review Follow-ups\n\n- [ ] Name the index\n',
    `## Dev Notes\n\n${'Notes about everything that could matter one day. '.repeat(60)}\n`,
  ].join('\n');
  const path = '_bmad-output/implementation-artifacts/1-2-cart.md';

  it.each([
    ['dev', 700],
    ['dev', 2_600],
    ['build', 1_500],
  ])(
    'of %s within %i tokens has its criteria and tasks first, and says what is missing',
    async (name, budget) => {
      const context = await shop({ ...PROJECT, [path]: story });
      const { text, whole, leftOut } = await compiled(context, { name, budget });
      for (const line of [
        'The cart keeps ten books.',
        '- [ ] Empty it after the order',
        '- [ ] Name the index',
      ])
        expect(text).toContain(line);
      const [before = ''] = text.split('## Acceptance Criteria', 1);
      expect(before).not.toMatch(/## Values|## Dev Notes|----- BEGIN bmad/);
      expect(leftOut.length).toBeGreaterThan(0);
      expect(text).toMatch(/## Left out\n\n- /);
      expect(whole).toMatch(/budget:\d+|"Left out" lists the rest/);
      expect(estimateTokens(whole)).toBeLessThanOrEqual(budget);
    },
  );

  it.each([1_500, 3_000])(
    'within %i tokens comes with the decisions, before any text of the workflow (J-E7)',
    async (budget) => {
      const context = await shop({
        ...PROJECT,
        [path]: story
          .replace(/\n## Acceptance[^]*?\n(?=## Tasks)/, '\n')
          .concat('\n## Acceptance Criteria\n\n1. The cart keeps ten books.\n'),
      });
      for (const text of ['The database is PostgreSQL 17.', 'Prices are kept in cents.'])
        expect((await execute(logDecision, { agent: 'architect', text }, context, testCall())).ok).toBe(true);
      const { text, whole } = await compiled(context, { name: 'build', message: 'Build story 1.2', budget });
      const [before = '', after = ''] = text.split(/----- BEGIN -----\n(?=---\nname: bmad-build)/);
      for (const line of [
        '1. The cart keeps ten books.',
        'The database is PostgreSQL 17.',
        'Prices are kept in cents.',
      ])
        expect(before).toContain(line);
      if (budget === 3_000) expect(before).toContain('The cart keeps books for a month.');
      expect(after).not.toContain('The cart keeps');
      expect(estimateTokens(whole)).toBeLessThanOrEqual(budget);
    },
  );

  it('is the one that the workflow is for', async () => {
    const context = await shop({
      ...PROJECT,
      [path]: story,
      '_bmad-output/implementation-artifacts/sprint-status.yaml':
        'development_status:\n  epic-1: in-progress\n  1-1-login: review\n  1-2-cart: in-progress\n',
      '_bmad-output/implementation-artifacts/1-1-login.md':
        '# Story 1.1: Login\n\nStatus: review\n\n## Acceptance Criteria\n\n1. Three tries.\n',
    });
    expect((await compiled(context, { name: 'code-review' })).text).toContain('Three tries.');
    expect((await compiled(context, { name: 'build' })).text).toContain('The cart keeps ten books.');
  });
});

describe('budgets', () => {
  it.each([0, 1])('of %i tokens are an error that says what is enough', async (budget) => {
    const context = await shop();
    const outcome = await execute(compileContext, { name: 'architect', budget }, context, testCall());
    if (outcome.ok) throw new Error('It succeeded.');
    expect(outcome.error.text).toMatch(/A budget of [01] tokens is too small/);
    const enough = Number(/budget:(\d+)\}/.exec(outcome.error.textWith(toolCall))?.[1]);
    expect((await compiled(context, { name: 'architect', budget: enough })).complete).toBe(true);
  });

  it('of 200 tokens give a beginning that is called one', async () => {
    const { complete, whole, needed } = await compiled(await shop(), { name: 'architect', budget: 200 });
    expect(complete).toBe(false);
    expect(whole).toContain('INCOMPLETE: the text to follow is not whole here. Do not start from it.');
    expect(whole).toContain(`{operation:"context", query:"architect", budget:${needed}}`);
    expect(estimateTokens(whole)).toBeLessThanOrEqual(200);
  });

  it('that are advised bring the story, the plans and what is remembered', async () => {
    const context = await shop();
    for (const name of ['dev', 'architect']) {
      const small = await compiled(context, { name, message: MESSAGE, budget: 300 });
      expect(small.complete).toBe(false);
      const { complete, included, leftOut } = await compiled(context, {
        name,
        message: MESSAGE,
        budget: small.needed,
      });
      expect(complete).toBe(true);
      // Of what is very long, a section may still be missing; no document is.
      expect(leftOut.filter(({ title, why }) => title.startsWith('Project ') && why === 'no room')).toEqual(
        [],
      );
      const titles = included.map(({ title }) => title).join('; ');
      for (const kind of ['(story)', '(prd', '(architecture', 'Project memory'])
        expect(titles).toContain(kind);
    }
  });

  it('of a million are capped', async () => {
    const { capped, budget, complete } = await compiled(await shop(), { name: 'dev', budget: 1_000_000 });
    expect([capped, budget, complete]).toEqual([true, 100_000, true]);
  });

  it.each([-1, 1.5, 'much', null])('that are none are refused or the default: %j', async (budget) => {
    const outcome = await execute(compileContext, { name: 'dev', budget }, await shop(), testCall());
    if (budget === null) expect(outcome).toMatchObject({ ok: true, data: { budget: 8_000 } });
    else expect(outcome).toMatchObject({ ok: false, error: { code: 'invalid_input' } });
  });
});

it('is an operation of bmad', async () => {
  const context = await shop();
  const input = { operation: 'context', workflow: 'prd', budget: 8_000 };
  const outcome = await execute(bmad, input, context, testCall());
  expect(outcome).toMatchObject({
    ok: true,
    data: { operation: 'context', result: { name: 'bmm/bmad-prd' } },
  });
  const other = await execute(bmad, { operation: 'context' }, context, testCall());
  expect(other).toMatchObject({
    ok: false,
    error: { message: 'bmad: context needs "agent" or "workflow".' },
  });
  // What was said goes into the call that works.
  const said = await execute(bmad, { operation: 'context', message: 'fix the cart' }, context, testCall());
  expect(said.ok ? [] : said.error.steps[0]).toEqual({
    operation: 'compile_context',
    args: { name: 'dev', kind: 'agent', message: 'fix the cart' },
    why: 'Get the context of an agent, such as the one who builds stories',
  });
});
