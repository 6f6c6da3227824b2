import * as z from 'zod';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../tests/support/app.ts';
import { refusal } from '../../tests/support/thrown.ts';
import type { Outside } from '../app/app.ts';
import { bmad } from './unified/bmad.ts';
import type { Context } from './context.ts';
import { execute, handOver } from './execute.ts';
import { defineOperation, type AnyOperation } from './operation.ts';
import { chooseTools } from './toolsets.ts';
import { DEFAULT_TOOLS, PROJECT_TOOLS, READING_TOOLS } from '../../tests/support/tool-names.ts';

async function context(outside: Partial<Outside> = {}): Promise<Context> {
  return contextIn(await temporaryFolder(afterAll), outside);
}

function offered({ tools }: Context): string[] {
  return tools.fixed.filter((tool) => tools.of(tool).offered).map(({ name }) => name);
}

const WORKFLOWS = [
  'list_workflows',
  'get_workflow_details',
  'execute_workflow',
  'list_tasks',
  'execute_task',
  'get_knowledge',
];

describe('the tools that are offered', () => {
  it.each([
    ['by default', {}, DEFAULT_TOOLS],
    ['of one set', { toolsets: ['workflows'] }, WORKFLOWS],
    ['of the project', { toolsets: ['project'] }, PROJECT_TOOLS],
    ['of a set and by name', { toolsets: ['bmad'], tools: ['list_tasks'] }, ['bmad', 'list_tasks']],
    [
      'by name only',
      { toolsets: [''], tools: ['list_tasks', 'bmad-workflow'] },
      ['list_tasks', 'bmad-workflow'],
    ],
    [
      'without excluded ones',
      { toolsets: ['workflows'], excludeTools: ['*_task,list_*'] },
      ['get_workflow_details', 'execute_workflow', 'get_knowledge'],
    ],
    [
      'where exclusion meets inclusion',
      { tools: ['list_tasks'], excludeTools: ['list_tasks'] },
      DEFAULT_TOOLS,
    ],
    ['when only reading is allowed', { readOnly: 'true' }, READING_TOOLS],
  ])('%s', async (_what, flags, names) => {
    expect(offered(await context({ flags }))).toEqual(names);
  });

  it('do not make the content be read', async () => {
    // A project that does not exist fails as soon as it is opened.
    const flags = { project: '/no/such/folder', toolsets: ['workflows'] };
    expect(offered(await context({ flags }))).toEqual(WORKFLOWS);
  });

  it('never include one that writes when only reading is allowed', async () => {
    const { config, configFrom, settingKeys } = await context({
      flags: { readOnly: 'true', tools: ['bmad'] },
    });
    const { of } = chooseTools([writing], {
      config: { ...config, tools: ['write_something'] },
      configFrom,
      settingKeys,
    });
    expect(of(writing).offered).toBe(false);
    expect(String(of(writing).why)).toBe('it writes; read_only (flag --read-only)');
  });
});

describe('a wrong name stops the start', () => {
  it.each([
    [{ flags: { toolsets: ['workflow'] } }, 'flag --toolsets: there is no toolset "workflow".', 'workflows'],
    [
      { env: { BMAD_TOOLSETS: 'bmad,agnets' } },
      'environment BMAD_TOOLSETS: there is no toolset "agnets".',
      'agents',
    ],
    [
      { flags: { tools: ['list_workflow'] } },
      'flag --tools: there is no tool "list_workflow".',
      'list_workflows',
    ],
    [
      { env: { BMAD_EXCLUDE_TOOLS: 'bmadd' } },
      'environment BMAD_EXCLUDE_TOOLS: there is no tool "bmadd".',
      'bmad',
    ],
    [
      { flags: { toolsets: ['agents'], excludeTools: ['bmm-architct'] } },
      'flag --exclude-tools: there is no tool "bmm-architct".',
      'bmm-architect',
    ],
  ])('%j', async (outside, message, suggestion) => {
    const error = await refusal(() => context(outside));
    expect([error.code, error.message]).toEqual(['invalid_input', message]);
    expect(error.suggestions[0]).toBe(suggestion);
    expect(error.hint).toBeTruthy();
  });

  it('but a pattern that fits nothing is none', async () => {
    expect(offered(await context({ flags: { excludeTools: ['cis-*'] } }))).toEqual(DEFAULT_TOOLS);
  });
});

const writing: AnyOperation = defineOperation({
  name: 'write_something',
  title: 'Write something',
  description: 'An operation that would write.',
  effect: 'write',
  toolset: 'memory',
  input: z.strictObject({}),
  output: z.object({ done: z.boolean() }),
  run: async () => ({ done: true }),
  render: () => ({ body: 'done' }),
});

describe('read-only mode', () => {
  it('refuses what writes at the door, and says which setting does', async () => {
    const outcome = await execute(writing, {}, await context({ env: { BMAD_READ_ONLY: '1' } }), testCall());
    expect(outcome.ok).toBe(false);
    if (outcome.ok) return;
    expect(outcome.error.code).toBe('forbidden');
    expect(outcome.error.text).toBe(
      'write_something writes, but the server is read-only.\n\nread_only is on (environment BMAD_READ_ONLY).',
    );
  });

  it('refuses it also when another operation hands over', async () => {
    const readOnly = await context({ flags: { readOnly: 'true' } });
    const error = await refusal(() => handOver(writing, {}, readOnly, testCall()));
    expect(error.code).toBe('forbidden');
  });

  it('lets reading through, and writing where it is off', async () => {
    const call = { operation: 'list', query: 'modules' };
    expect((await execute(bmad, call, await context({ flags: { readOnly: 'true' } }), testCall())).ok).toBe(
      true,
    );
    expect((await execute(writing, {}, await context(), testCall())).ok).toBe(true);
  });
});
