import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TOOLSETS } from '../../src/base/product.ts';
import { execute } from '../../src/operations/execute.ts';
import { operations as listed } from '../../src/operations/index.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { outsideTaskList, outsideTaskShow } from '../../src/operations/tasks/outside-tasks.ts';
import { contextIn, homeBeside, temporaryFolder, testCall } from '../support/app.ts';
import { exampleInput } from '../support/example-input.ts';
import { writeFiles } from '../support/folders.ts';
import { some } from '../support/how-much.ts';
import { KIT_FILES } from '../support/kit-project.ts';

const readers = [...listed, outsideTaskShow, outsideTaskList].filter(({ effect }) => effect === 'read');

const MEMORY = { id: '728cfd79-2a3f-5f9a-ad84-d776ac131a77' };
const SKILL = 'skill://bmm/bmad-agent-analyst';

/** What is asked of those that need to be told something and have no example, or one about things that are not here. */
const ASKED: Readonly<Record<string, Record<string, unknown>>> = {
  bmad: { operation: 'execute', agent: 'architect' },
  search: { query: 'architecture' },
  read: { target: 'architect' },
  execute: { name: 'architect', message: 'Hello' },
  compile_context: { name: 'architect' },
  explain: { target: 'architect' },
  get_agent_memory: { agent: 'dev' },
  check_failures: { change: 'ship without running the tests' },
  session_diff: { name: 'spike' },
  task_show: { task_id: 'task-1' },
  delivery_validate: { contract_id: 'contract-1' },
  recall_structured: { query: 'which database' },
  search_codebase: { query: 'parser' },
  memory_get: MEMORY,
  get_workflow_details: { workflow_name: 'prd' },
  execute_workflow: { workflow_name: 'prd' },
  execute_task: { task_name: 'customize' },
  get_knowledge: { domain: 'testing' },
  'bmad-workflow': { workflow: 'prd' },
  'bmad-resources': { operation: 'agents' },
  find_agent_tool: { name: 'architect' },
  find_prompt: { name: 'architect' },
  read_resource: { uri: 'bmad://project/agents/dev' },
  get_skill: { uri: `${SKILL}/SKILL.md` },
  list_skill_folder: { uri: SKILL },
  list_mark: { list: 'prompts' },
  complete: { what: 'agent', value: 'arch' },
  load: { name: 'architect', kind: 'agent' },
  outside_task_show: { task_id: 'task-1' },
  embedder_try: { question: 'which database' },
  ask_decision: { question: 'Which queue?', options: ['PostgreSQL', 'Redis'] },
  app_data: { view: 'board' },
};

const inputOf = (operation: AnyOperation): Record<string, unknown> =>
  ASKED[operation.name] ?? (operation.input.safeParse({}).success ? {} : exampleInput(operation));

/** The kit counts in one file what its memory is asked; a cache may be made and thrown away at any time. */
const MAY_CHANGE = /(?:\/activity\.jsonl|\.home\/\.cache(?:\/.*)?)$/;

/** Every file and folder below, with what the files say. */
async function snapshot(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = entries.map(async (entry): Promise<[string, string]> => {
    const path = join(entry.parentPath, entry.name);
    return [path.slice(folder.length), entry.isFile() ? await readFile(path, 'utf8') : ''];
  });
  return Object.fromEntries((await Promise.all(found)).filter(([path]) => !MAY_CHANGE.test(path)));
}

const EMPTY = { 'README.md': '# Shop\n' };
const INSTALLED = { '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.2.0\n' };
const QDRANT = { BMAD_MEMORY_ENGINE: 'sqlite', BMAD_QDRANT_URL: 'http://127.0.0.1:9' };

/** Every kind of project, and what hangs on no kind of it. */
const PLACES: [what: string, files: Record<string, string>, env: Record<string, string>][] = [
  ['a project without BMAD', EMPTY, {}],
  ["a project with the kit's files", KIT_FILES, {}],
  ['a project without BMAD, and an address of Qdrant that is not used', EMPTY, QDRANT],
  ['a project without BMAD, and an index in memory', EMPTY, { BMAD_MEMORY_ENGINE: 'memory' }],
  ['a project with BMAD', INSTALLED, {}],
];

describe.each(some(2, PLACES))('reading in %s', (_, files, env) => {
  it('leaves the disk as it was', async () => {
    const top = await temporaryFolder(onTestFinished);
    const folder = join(top, 'shop');
    await writeFiles(folder, files);
    await writeFiles(homeBeside(folder), { '.config/': '' });
    const before = await snapshot(top);
    const context = await contextIn(folder, { env, patient: true, flags: { toolsets: [...TOOLSETS] } });
    onTestFinished(() => context.close());
    const made: string[] = [];
    const refused: string[] = [];
    for (const operation of readers) {
      const outcome = await execute(operation, inputOf(operation), context, testCall());
      if (!outcome.ok && !['not_found', 'empty'].includes(outcome.error.code))
        refused.push(`${operation.name}: ${outcome.error.text}`);
      const after = await snapshot(top);
      const news = Object.keys(after).filter((path) => after[path] !== before[path]);
      if (news.length > 0) made.push(`${operation.name}: ${news.join(', ')}`);
      Object.assign(before, after);
    }
    expect(refused).toEqual([]);
    expect(made).toEqual([]);
  });
});
