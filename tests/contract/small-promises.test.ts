import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { activate } from '../../src/operations/activation/activate.ts';
import { read } from '../../src/operations/catalogue/read.ts';
import { execute } from '../../src/operations/execute.ts';
import { rememberStructured } from '../../src/operations/memory/remember.ts';
import { recallStructured } from '../../src/operations/memory/recall-structured.ts';
import { toolList } from '../../src/surfaces/mcp/tools.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { desk } from '../support/delegation-desk.ts';
import { writeFiles } from '../support/folders.ts';
import { openSession } from '../support/operations.ts';

const session = await openSession(afterAll);

describe('an agent', () => {
  it('stays in character until the user dismisses it, and a workflow is followed', async () => {
    const agent = (await session.ok(activate, { name: 'architect' })).answer.body;
    expect(agent).toMatch(/\nBecome this agent now, .* stay in character until the user dismisses it\.\n/);
    const workflow = (await session.ok(activate, { name: 'prd' })).answer.body;
    expect(workflow).not.toContain('in character until');
    expect(workflow).toMatch(/\nStart this workflow now, following the file below\.\n/);
  });
});

describe('the log', () => {
  it('says how a name was resolved, to those who want to know', async () => {
    const context = await contextIn(session.folder, { env: { BMAD_LOG_LEVEL: 'debug' } });
    afterAll(() => context.close());
    await execute(read, { target: 'bmm/architect' }, context, testCall());
    expect(context.written.join('')).toMatch(
      /found \d+ candidate.*after module filter.*bmm.*selected bmm\/bmad-agent-architect from .*priority=9/,
    );
  });
});

describe('BMAD_PROJECT_ROOT', () => {
  it('names the project, unless a flag does', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, { 'a/_bmad/custom/': '', 'b/_bmad/custom/': '', 'elsewhere/': '' });
    const env = { BMAD_PROJECT_ROOT: join(folder, 'a') };
    const rootWith = async (flags: Record<string, string>): Promise<string | undefined> => {
      const context = await contextIn(join(folder, 'elsewhere'), { env, flags });
      afterAll(() => context.close());
      const outcome = await execute(activate, { name: 'architect' }, context, testCall());
      return outcome.ok
        ? (outcome.data['context'] as { projectRoot: string }).projectRoot
        : outcome.error.text;
    };
    expect(await rootWith({})).toBe(join(folder, 'a'));
    expect(await rootWith({ project: join(folder, 'b') })).toBe(join(folder, 'b'));
  });
});

describe('recall', () => {
  it('gives five hits, or as many as it is told', async () => {
    for (const part of ['cart', 'list', 'login', 'order', 'price', 'stock'])
      await session.ok(rememberStructured, {
        type: 'decisions',
        agent: 'architect',
        text: `The ${part} page of the shop is rendered on the server`,
      });
    const hits = async (more: object): Promise<number> => {
      const query = 'which page of the shop is rendered on the server';
      return ((await session.ok(recallStructured, { query, ...more })).data['hits'] as unknown[]).length;
    };
    expect(await hits({})).toBe(5);
    expect(await hits({ limit: 6 })).toBe(6);
  });
});

describe('delegation', () => {
  it('asks for 2,048 tokens unless it is told otherwise', async () => {
    const { call, asked } = await desk({});
    await call({}, 'A queue in the database.');
    await call({ max_tokens: 300 }, 'A queue in the database.');
    expect(asked.map(({ maxTokens }) => maxTokens)).toEqual([2_048, 300]);
  });
});

describe('the start of an agent', () => {
  it('costs less than a fifth of all agents and workflows', async () => {
    const context = await contextIn(session.folder);
    afterAll(() => context.close());
    const { winners } = (await context.workspace()).catalogue;
    const all = winners.filter(({ kind }) => kind === 'agent' || kind === 'workflow');
    const sizes = await Promise.all(
      all.map(async ({ absolutePath }) => (await readFile(absolutePath)).length),
    );
    const tools = JSON.stringify(await toolList(context, testCall()));
    const { answer } = await session.ok(activate, { name: 'architect', message: 'Review our plan' });
    expect(Buffer.byteLength(tools + answer.body)).toBeLessThan(
      sizes.reduce((sum, size) => sum + size, 0) / 5,
    );
  });
});
