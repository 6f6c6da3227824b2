import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../tests/support/app.ts';
import type { Outside } from '../app/app.ts';
import type { Call } from './context.ts';
import { operations } from './index.ts';
import { manageMemories } from './memory/memory-operations.ts';
import { isForPrograms, reachable, reachableNamed } from './reachable.ts';
import { TOOLSETS } from '../base/product.ts';

const folder = await temporaryFolder(afterAll);
const overHttp: Call = { ...testCall(), overHttp: true };

async function namesWith(flags: Outside['flags'], call = overHttp): Promise<string[]> {
  const context = await contextIn(folder, { flags });
  return reachable(context, call).flatMap(({ operation, reachable: may }) => (may ? [operation.name] : []));
}

describe('what programs may call by name', () => {
  it('is everything but what is for a person, the library or a surface alone', () => {
    const left = operations.filter((operation) => !isForPrograms(operation)).map(({ name }) => name);
    expect(left.sort()).toEqual([
      'activity',
      'app_data',
      'ask_decision',
      'audit_show',
      'cache_clear',
      'config_show',
      'delivery_accept',
      'describe_agents',
      'find_agent_tool',
      'find_prompt',
      'hosts_show',
      'inbox',
      'list_agent_tools',
      'list_files',
      'list_mark',
      'load',
      'memory_export',
      'memory_import',
      'memory_pairs',
      'memory_purge',
      'memory_reindex',
      'outside_task_add',
      'outside_task_cancel',
      'outside_task_list',
      'outside_task_show',
      'prefer_origin',
      'query_records',
      'receipt_show',
      'remove',
      'setup',
      'show_board',
      'show_catalogue',
      'sources_add',
      'sources_approve',
      'sources_clear',
      'sources_diff',
      'sources_list',
      'sources_remove',
      'sources_resolve',
      'sources_update',
      'state_check',
      'state_migrate',
      'state_move',
      'state_share',
      'state_show',
      'story_show',
      'task_approve',
      'task_approve_all',
      'task_refuse',
      'task_withdraw',
      'trust',
      'usage_clear',
      'usage_show',
      'warm',
    ]);
  });

  it('follows the toolsets, and what goes with a tool follows the tool', async () => {
    const usual = await namesWith({});
    expect(usual).toEqual(expect.arrayContaining(['bmad', 'list', 'execute', 'task_claim', 'memory_get']));
    expect(usual).not.toContain('list_workflows');
    const project = await namesWith({ toolsets: ['project'] });
    expect(project).toEqual(expect.arrayContaining(['manage_project', 'task_claim', 'read_resource']));
    expect(project).not.toContain('list');
    expect(project).not.toContain('memory_get');
    const excluded = await namesWith({ excludeTools: ['manage_project'] });
    expect(excluded).toContain('spawn_subagent_task');
    expect(excluded).not.toContain('task_claim');
    expect(await namesWith({ toolsets: [...TOOLSETS] })).toContain('list_workflows');
  });

  it('only reads where nothing is written, for everybody or for this caller', async () => {
    const readOnly = await namesWith({ readOnly: 'true' });
    expect(readOnly).toContain('run_resume');
    expect(readOnly).not.toContain('task_claim');
    expect(await namesWith({}, { ...overHttp, mayWrite: false })).toEqual(readOnly);
  });

  it('runs programs over HTTP only where that is allowed', async () => {
    expect(await namesWith({})).not.toContain('run_completion_contract');
    expect(await namesWith({}, testCall())).toContain('run_completion_contract');
    expect(await namesWith({ contractsOverHttp: 'true' })).toContain('run_completion_contract');
  });

  it('has every action of the tool for memories', async () => {
    const { properties } = (await import('zod')).toJSONSchema(manageMemories.input, { io: 'input' });
    const action = properties?.['action'];
    const all = typeof action === 'object' ? (action.enum ?? []) : [];
    const actions = all.filter((name) => name !== 'help');
    expect(actions.length).toBeGreaterThan(5);
    expect(await namesWith({})).toEqual(
      expect.arrayContaining(actions.map((name) => `memory_${String(name)}`)),
    );
  });

  it('answers to the words of the tool bmad as well, and to nothing else', async () => {
    const context = await contextIn(folder);
    expect(reachableNamed('context', context, overHttp)?.operation.name).toBe('compile_context');
    for (const name of ['task_approve', 'sources_approve', 'memory_import', 'toString', '__proto__', ''])
      expect(reachableNamed(name, context, overHttp), name).toBeUndefined();
  });
});
