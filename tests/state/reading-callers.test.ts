import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Call, Context } from '../../src/operations/context.ts';
import { execute } from '../../src/operations/execute.ts';
import { operations } from '../../src/operations/index.ts';
import { reachable } from '../../src/operations/reachable.ts';
import { TOOLSETS } from '../../src/base/product.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { exampleInput } from '../support/example-input.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';

/** What a caller sends whose token allows only to read. */
const reader: Call = { ...testCall(), overHttp: true, mayWrite: false };

/** Something to ask each operation that needs more than its name. */
const ASKED: Readonly<Record<string, readonly object[]>> = {
  search: [{ query: 'brainstorm' }],
  read: [{ target: 'analyst' }],
  execute: [{ name: 'analyst', message: 'hello' }],
  compile_context: [{ name: 'fullstack-dev', message: 'the cart' }],
  explain: [{ target: 'analyst' }],
  get_agent_memory: [{ agent: 'fullstack-dev' }, { agent: 'fullstack-dev', query: 'cache redis' }],
  delegate_to_agent: [{ agent_id: 'analyst', task: 'Say hello' }],
  manage_project: [{ action: 'help' }, { action: 'task_list' }, { action: 'reconcile_ledgers' }],
  check_failures: [{ change: 'deliver without running the tests' }],
  session_diff: [{ name: 'main' }],
  task_show: [{ task_id: 'SAT-2026-0001' }],
  delivery_validate: [{ contract_id: 'DC-1' }],
  recall_structured: [{ query: 'cache redis' }, { query: 'verrou', agent: 'fullstack-dev' }],
  manage_memories: [{ action: 'list' }, { action: 'status' }, { action: 'stats' }],
  search_codebase: [{ query: 'shop' }],
  memory_get: [{ id: '728cfd79-2a3f-5f9a-ad84-d776ac131a77' }],
  get_workflow_details: [{ workflow_name: 'brainstorming' }],
  execute_workflow: [{ workflow_name: 'brainstorming' }],
  execute_task: [{ task_name: 'help' }],
  get_knowledge: [{ domain: 'testing' }],
  'bmad-workflow': [{ workflow: 'brainstorming' }],
  'bmad-resources': [{ operation: 'agents' }],
  read_resource: [{ uri: 'bmad://memory/decisions' }, { uri: 'bmad://config/current' }],
  get_skill: [{ uri: 'skill://index.json' }],
  list_skill_folder: [{ uri: 'skill://' }],
  complete: [{ what: 'agent', value: 'a' }],
};

let folder: string;
let context: Context;
beforeAll(async () => {
  folder = await temporaryFolder(afterAll);
  await writeFiles(join(folder, 'project'), { ...KIT_FILES, 'shop.ts': 'export const shop = 1;\n' });
  context = await contextIn(join(folder, 'project'), {
    home: join(folder, 'home'),
    flags: { toolsets: [...TOOLSETS], contractsOverHttp: 'true', embedder: 'none', usage: 'true' },
  });
  return () => context.close();
});

/** Every file with its content, but for caches and for what SQLite keeps beside a file that it reads. */
async function everything(): Promise<Record<string, string>> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) =>
    each.isFile(),
  );
  const named = files.map((each) => relative(folder, join(each.parentPath, each.name)).replaceAll('\\', '/'));
  const kept = named
    .filter((name) => !/(?:^|\/)\.?cache\//i.test(name) && !/-(?:wal|shm)$/.test(name))
    .sort();
  const marks = kept.map(async (name) => {
    const bytes = await readFile(join(folder, name));
    return [name, createHash('sha256').update(bytes).digest('hex')] as const;
  });
  return Object.fromEntries(await Promise.all(marks));
}

async function askAll(): Promise<string[]> {
  const answered: string[] = [];
  for (const { operation, reachable: offered } of reachable(context, reader)) {
    if (!offered) continue;
    for (const input of ASKED[operation.name] ?? [exampleInput(operation), {}]) {
      const outcome = await execute(operation, input, context, reader);
      if (outcome.ok) answered.push(operation.name);
    }
  }
  return answered;
}

const named = (name: string) => {
  const found = operations.find((each) => each.name === name);
  if (found === undefined) throw new Error(`There is no operation ${name}.`);
  return found;
};

describe('a caller who may only read', () => {
  it('changes no file with anything that is offered', async () => {
    const before = await everything();
    const answered = await askAll();
    expect(answered).toEqual(
      expect.arrayContaining(['execute', 'recall_structured', 'get_agent_memory', 'read_resource', 'doctor']),
    );
    expect(await everything()).toEqual(before);
  });

  it('finds what others remember afterwards, and again changes nothing', async () => {
    const given = { type: 'decisions', agent: 'dev', text: 'Zebras are counted every morning' };
    const remembered = await execute(named('remember_structured'), given, context, testCall());
    expect(remembered.ok).toBe(true);
    const before = await everything();
    expect(Object.keys(before).some((name) => /\.bmad-memory\/\d{4}-\d\d-\d\d\/.*\.jsonl$/.test(name))).toBe(
      true,
    );
    const found = await execute(named('recall_structured'), { query: 'zebras counted' }, context, reader);
    expect(JSON.stringify(found)).toContain('Zebras are counted');
    await askAll();
    expect(await everything()).toEqual(before);
  });
});
