import examples from '../../../../assets/api/examples.json' with { type: 'json' };
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../../tests/support/app.ts';
import { exampleInput } from '../../../../tests/support/example-input.ts';
import { KIT_FILES, writeFiles } from '../../../../tests/support/kit-project.ts';
import { served } from '../../../../tests/support/served.ts';
import { operations } from '../../../operations/index.ts';
import { isForPrograms } from '../../../operations/reachable.ts';
import { TOOLSETS } from '../../../base/product.ts';
import { takesQuery } from './input.ts';
import { openApiDocument } from './openapi.ts';
import { createApiRoutes } from './route.ts';

type Body = Record<string, string | number | boolean | string[]>;

/** What a program might send to what only reads, beside its example. Names in angle brackets are made before. */
const ASKED: Record<string, Body[]> = {
  bmad: [
    { operation: 'list', query: 'agents' },
    { agent: 'architect' },
    { workflow: 'prd' },
    { command: 'search prd' },
    { uri: 'bmad://bmm/module.yaml' },
    { operation: 'doctor' },
  ],
  list: [
    {},
    { what: 'workflows', limit: 2 },
    { what: 'resources' },
    { what: 'modules' },
    { what: 'knowledge' },
  ],
  search: [{ query: 'architecture' }, { query: 'nothing has these words' }],
  read: [{ target: 'architect' }, { target: 'prd', kind: 'workflow' }],
  execute: [{ name: 'architect', message: 'Hello' }, { name: 'prd' }],
  compile_context: [{ name: 'dev', budget: 2_000 }],
  next: [{}, { detail: 'full' }],
  explain: [{ target: 'architect' }],
  doctor: [{}],
  refresh: [{}],
  get_project_context: [{}, { section: 'stack' }, { section: 'architecture' }, { section: 'agents' }],
  get_agent_memory: [{ agent: 'fullstack-dev' }],
  get_workflow_status: [{}, { run_id: '<run>' }],
  list_sessions: [{}],
  get_failure_museum: [{}],
  check_failures: [{ change: 'ship without running the tests' }],
  run_resume: [{ run_id: '<run>' }],
  session_diff: [{ name: '<session>' }],
  verify_receipts: [{}],
  list_receipts: [{}],
  task_list: [{}, { status: 'queued' }],
  task_show: [{ task_id: '<task>' }],
  delivery_list: [{}],
  delivery_validate: [{ contract_id: '<delivery>' }],
  recall_structured: [{ query: 'panier' }, { query: 'panier', tags: ['a', 'b'] }],
  search_codebase: [{ query: 'panier' }],
  memory_list: [{}, { type: 'decisions' }],
  memory_get: [{ id: '<memory>' }],
  story_history: [{}],
  memory_count: [{}],
  memory_stats: [{}],
  memory_status: [{}],
  project_state: [{}],
  list_workflows: [{}],
  get_workflow_details: [{ workflow_name: 'prd' }],
  execute_workflow: [{ workflow_name: 'prd' }],
  list_tasks: [{}],
  execute_task: [{ task_name: 'customize' }],
  get_knowledge: [],
  'bmad-workflow': [{ workflow: 'prd' }],
  'bmad-resources': [{ operation: 'agents' }, { operation: 'search', query: 'prd' }],
  list_prompts: [{}],
  list_resources: [{}],
  read_resource: [{ uri: 'bmad://bmm/module.yaml' }],
  list_skills: [{}],
  get_skill: [{ uri: '<skill>' }],
  list_skill_folder: [{ uri: '<folder>' }],
  complete: [{ what: 'agent', value: 'arch' }],
};

/** Names of things that are written first, so that there is something to read, and where an answer has each. */
const made: Record<string, string> = {
  '<session>': 'spike',
  '<skill>': 'skill://bmm/bmad-agent-analyst/SKILL.md',
  '<folder>': 'skill://bmm/bmad-agent-analyst',
};
const WRITTEN: [name: string, body: Body, as?: string, at?: readonly string[]][] = [
  ['run_open', { workflow: 'prd' }, '<run>', ['run', 'run_id']],
  ['session_create', { name: 'spike' }],
  ['spawn_subagent_task', { agent: 'dev', task: 'x', output_key: 'k' }, '<task>', ['task', 'task_id']],
  ['create_delivery_contract', { from_team: 'a', to_team: 'b' }, '<delivery>', ['contract', 'contract_id']],
  [
    'remember_structured',
    { type: 'decisions', agent: 'dev', text: 'We use NATS' },
    '<memory>',
    ['memory', 'id'],
  ],
  ['log_decision', { text: 'We use Redis' }],
];

const ajv = new Ajv2020({ strict: false, validateFormats: false });
let origin = '';

beforeAll(async () => {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, {
    ...KIT_FILES,
    '_bmad-output/planning-artifacts/epics.md':
      '## Epic 1: Shop\n\n### Story 1.2: Pay\n\n**Acceptance Criteria:**\n\n**Given** a cart **Then** it is paid.\n',
  });
  const context = await contextIn(folder, { flags: { toolsets: [...TOOLSETS] } });
  ({ origin } = await served(context, createApiRoutes(context), afterAll));
  ajv.addSchema((await (await fetch(`${origin}/openapi.json`)).json()) as object, 'document');
  ajv.addSchema(
    openApiDocument(operations.filter(isForPrograms), { secured: true, runsPrograms: true }),
    'whole',
  );
  for (const [name, body, as, at = []] of WRITTEN) {
    const { data } = (await checked(name, await post(name, body))) as { data: unknown };
    const found = at.reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], data);
    if (as !== undefined) made[as] = String(found);
  }
});

/** Nothing, or what is wrong with a value by the part of the document at this place. */
function wrong(place: readonly string[], value: unknown, document = 'document'): string | undefined {
  const steps = place.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1'));
  return ajv.validate({ $ref: `${document}#/${steps.join('/')}` }, value) ? undefined : ajv.errorsText();
}

const bodyAt = (name: string): string[] => [
  'paths',
  `/api/${name}`,
  'post',
  'requestBody',
  'content',
  'application/json',
  'schema',
];

function post(name: string, body: Body): Promise<Response> {
  return fetch(`${origin}/api/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

function get(name: string, body: Body): Promise<Response> {
  const query = Object.entries(body).flatMap(([key, value]) =>
    [value].flat().map((each): [string, string] => [key, String(each)]),
  );
  return fetch(`${origin}/api/${name}?${new URLSearchParams(query).toString()}`);
}

/** An answer that is as the document says. */
async function checked(name: string, response: Response): Promise<unknown> {
  const answer: unknown = await response.json();
  expect(response.status, JSON.stringify(answer)).toBe(200);
  expect(wrong(['components', 'schemas', name], answer)).toBeUndefined();
  return answer;
}

const withNames = (body: Body): Body =>
  Object.fromEntries(Object.entries(body).map(([key, value]) => [key, made[String(value)] ?? value]));

const readers = operations.filter((each) => isForPrograms(each) && each.effect === 'read');

describe('the OpenAPI document and what is answered', () => {
  it('are compared for everything that reads', () => {
    const names = new Set(readers.map(({ name }) => name));
    expect(Object.keys(ASKED).filter((name) => !names.has(name))).toEqual([]);
    expect(readers.length).toBeGreaterThan(40);
  });

  it.each(readers.map((each) => [each.name, each] as const))('agree about %s', async (name, operation) => {
    const byQuery = takesQuery(operation);
    for (const given of ASKED[name] ?? [exampleInput(operation)]) {
      const body = withNames(given);
      expect(wrong(bodyAt(name), body)).toBeUndefined();
      await checked(name, await post(name, body));
      if (byQuery) await checked(name, await get(name, body));
    }
    // What the schema allows is not refused for its form, and the other way round.
    const empty = await post(name, {});
    const allowed = wrong(bodyAt(name), {}) === undefined;
    const problem = empty.ok ? undefined : ((await empty.json()) as { code: string });
    expect(problem?.code !== 'invalid_input').toBe(allowed);
    if (problem !== undefined) expect(wrong(['components', 'schemas', 'Problem'], problem)).toBeUndefined();
  });

  it.each(Object.entries<{ input: unknown; answer?: unknown }>(examples))(
    'agree about the example of %s',
    (name, { input, answer }) => {
      expect(operations.map((each) => each.name)).toContain(name);
      expect(wrong(bodyAt(name), input, 'whole')).toBeUndefined();
      const place = ['components', 'schemas', name];
      expect(answer === undefined ? undefined : wrong(place, answer, 'whole')).toBeUndefined();
    },
  );

  it('have an example for every operation, nearly all of them with an answer', () => {
    const all = Object.entries<{ input: unknown; answer?: unknown }>(examples);
    expect(all.map(([name]) => name).sort()).toEqual(
      operations
        .filter(isForPrograms)
        .map(({ name }) => name)
        .sort(),
    );
    // These start programs, or need another project than the one that was asked.
    expect(all.filter(([, { answer }]) => answer === undefined).map(([name]) => name)).toEqual([
      'run_completion_contract',
      'move_state',
      'story_status',
    ]);
  });

  it('agree about a thing that is not there', async () => {
    const response = await post('get_knowledge', { domain: 'nobody-has-this' });
    expect(response.status).toBe(404);
    expect(wrong(['components', 'schemas', 'Problem'], await response.json())).toBeUndefined();
  });

  it('agree about the list of operations', async () => {
    const place = ['paths', '/api', 'get', 'responses', '200', 'content', 'application/json', 'schema'];
    expect(wrong(place, await (await fetch(`${origin}/api`)).json())).toBeUndefined();
    expect(wrong(place, { operations: [{ name: 1 }] })).toContain('must');
  });
});
