import { realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { execute } from '../../src/operations/execute.ts';
import { operations } from '../../src/operations/index.ts';
import { wordsBehind } from '../../src/operations/offers.ts';
import { runOpen } from '../../src/operations/runs/run-operations.ts';
import { bmad } from '../../src/operations/unified/bmad.ts';
import { advertisedSchema } from '../../src/surfaces/mcp/schema.ts';
import { temporaryFolder, testCall } from '../support/app.ts';
import { project, projectAt } from '../support/install-project.ts';
import { installOf } from '../support/installs.ts';
import { copyFolder } from '../support/folders.ts';

/** A client at work in a project of 6.0.4. */
async function client() {
  const { context } = await project('6.0.4');
  const tool = (args: Record<string, unknown>) => execute(bmad, args, context, testCall());
  async function ok(args: Record<string, unknown>) {
    const outcome = await tool(args);
    if (!outcome.ok) throw new Error(outcome.error.text);
    return { ...outcome, result: outcome.data['result'] as Record<string, unknown> };
  }
  async function fail(args: Record<string, unknown>) {
    const outcome = await tool(args);
    if (outcome.ok) throw new Error(`it succeeded: ${outcome.answer.body.slice(0, 300)}`);
    return outcome.error;
  }
  return { ok, fail };
}

const LONG = { operation: 'read', uri: 'bmad://core/tasks/workflow.xml' };

describe('a cursor', () => {
  it('goes with the call that gave it, part after part (A-1)', async () => {
    const { ok } = await client();
    const call = { operation: 'execute', workflow: 'create-story' };
    let { result, answer } = await ok({ ...call, message: 'for story 1.2' });
    let text = answer.body;
    let parts = 1;
    for (; result['next'] !== undefined; parts += 1) {
      ({ result, answer } = await ok({ ...call, cursor: result['next'] }));
      text += answer.body;
    }
    expect(text).toContain('END bmad://bmm/workflows/4-implementation/create-story/');
  });

  it('alone, or one that is old, is answered with what to call, whatever was called before', async () => {
    const { ok, fail } = await client();
    const { result } = await ok({ operation: 'list', query: 'resources', limit: 3 });
    for (const args of [{ cursor: result['next'] }, { operation: 'read', cursor: result['next'] }]) {
      const error = await fail(args);
      expect(error.message).toBe('bmad: a cursor alone does not say which answer it continues.');
      expect(error.hint).toContain('Repeat the call that gave it');
    }
    const old = await fail({ ...LONG, cursor: 't00000000-17' });
    expect(old.message).toContain('The cursor does not belong to this answer');
    expect(old.steps).toEqual([
      { operation: 'read', args: { target: LONG.uri, kind: 'resource' }, why: 'Begin again' },
    ]);
    // The same call twice is answered twice, the same.
    expect((await ok(LONG)).answer.body).toBe((await ok(LONG)).answer.body);
  });
});

describe('M-44: paths in the words of delivered texts', () => {
  const uriOf = async (given: Awaited<ReturnType<typeof client>>, args: Record<string, unknown>) =>
    (await given.ok({ operation: 'read', ...args })).result['uri'];
  const STEP = 'bmad://bmm/workflows/2-plan-workflows/create-prd/steps-c/step-01-init.md';

  it('placeholders stand for what they stand for', async () => {
    const given = await client();
    for (const uri of [
      '{project-root}/_bmad/bmm/config.yaml',
      '{project_root}/_bmad/bmm/config.yaml',
      'bmad://{project-root}/_bmad/bmm/config.yaml',
      '{bmad_folder}/bmm/config.yaml',
      join(await realpath(await installOf('6.0.4')), '_bmad/bmm/config.yaml'),
    ])
      expect(await uriOf(given, { uri })).toBe('bmad://bmm/config.yaml');
  });

  it('relative ones belong to the text that is named', async () => {
    const given = await client();
    for (const uri of [
      './steps-c/step-01-init.md',
      'steps-c/step-01-init.md',
      '{installed_path}/steps-c/step-01-init.md',
    ])
      expect(await uriOf(given, { workflow: 'create-prd', uri })).toBe(STEP);
  });

  it('and to no text that was given before', async () => {
    const given = await client();
    await given.ok({ workflow: 'create-prd' });
    const error = await given.fail({ operation: 'read', uri: './steps-c/step-01-init.md' });
    expect(error.suggestions).toContain(STEP);
  });

  it('the path of a text put behind its folder leads to the file, and nowhere else', async () => {
    const given = await client();
    const folder = 'bmad://bmm/workflows/2-plan-workflows/create-prd/steps-c';
    expect(await uriOf(given, { uri: `${folder}/../steps-c/step-01-init.md` })).toBe(STEP);
    for (const uri of [`${folder}/../../../../../../etc/passwd`, `${folder}/%2e%2e/steps-c/step-01-init.md`])
      expect((await given.fail({ operation: 'read', uri })).code).toBe('forbidden');
  });

  it('a name may be written without what it ends in', async () => {
    const given = await client();
    expect(await uriOf(given, { workflow: 'create-prd', uri: './steps-c/step-01-init' })).toBe(STEP);
  });

  it('one row of a table is enough', async () => {
    const given = await client();
    const { result } = await given.ok({
      operation: 'read',
      workflow: 'create-prd',
      uri: './data/domain-complexity.csv',
      section: 'healthcare',
    });
    expect(String(result['text']).split('\n').filter(Boolean)).toHaveLength(2);
    expect(result['text']).toMatch(/^domain,/);
    const error = await given.fail({
      operation: 'read',
      workflow: 'create-prd',
      uri: './data/domain-complexity.csv',
      section: 'xyz',
    });
    expect(error.message).toBe('No row of this table has "xyz" in it.');
  });

  it('a command may be written as the catalogue of the install writes it', async () => {
    const given = await client();
    const { result } = await given.ok({ command: 'bmad:cloud infrastructure:agent:architect' });
    expect(result['name']).toBe('bmm/architect');
  });

  it('without such a text, the answer names the files and asks for it; nothing leads out', async () => {
    const given = await client();
    const error = await given.fail({ operation: 'read', uri: './steps-c/step-01-init.md' });
    expect(error.suggestions).toContain(STEP);
    expect(error.hint).toContain('Name the agent or workflow');
    for (const uri of [
      '../../../../../../../etc/passwd',
      '{project-root}/../../etc/passwd',
      './../../../../x',
    ])
      for (const named of [{}, { workflow: 'create-prd' }])
        expect(['not_found', 'invalid_input', 'forbidden']).toContain(
          (await given.fail({ operation: 'read', uri, ...named })).code,
        );
  });

  it('a file that somebody invented is answered with those that are there', async () => {
    const { fail } = await client();
    const error = await fail({
      operation: 'read',
      uri: '{project-root}/_bmad/bmm/workflows/2-plan-workflows/create-prd/steps-c/step-01-start.md',
    });
    expect(error.code).toBe('not_found');
    expect(error.suggestions.join()).toContain('/create-prd/steps-c/');
  });
});

describe('M-60: schema and behaviour agree', () => {
  /** What each operation needs at least. */
  const NAMED = { agent: 'analyst' };
  const LEAST: Record<string, Record<string, unknown>> = {
    read: NAMED,
    execute: NAMED,
    context: NAMED,
    explain: NAMED,
    list: { query: 'agents' },
    search: { query: 'research' },
  };
  const SAMPLES: Record<string, unknown> = { limit: 2, budget: 4_000, detail: 'brief', query: 'agents' };

  it('every argument that the tool lists is taken with every operation', async () => {
    const { context } = await projectAt(await temporaryFolder(afterAll));
    // These say where to look, and are refused where they would not be followed.
    const apart = new Set('operation command agent workflow uri type project origin'.split(' '));
    const keys = Object.keys(bmad.input.shape).filter((key) => !apart.has(key));
    const refused: string[] = [];
    for (const word of wordsBehind('bmad')) {
      const all = Object.fromEntries(keys.map((key) => [key, SAMPLES[key] ?? 'x']));
      const args = { operation: word, ...all, ...LEAST[word] };
      const outcome = await execute(bmad, args, context, testCall());
      if (!outcome.ok && /no argument|compile_context/.test(outcome.error.text))
        refused.push(`${word}: ${outcome.error.message}`);
    }
    expect(refused).toEqual([]);
  });

  it('what is not used is said', async () => {
    const { ok, fail } = await client();
    const { answer } = await ok({
      operation: 'list',
      query: 'agents',
      message: 'x',
      budget: 7,
      detail: 'brief',
    });
    expect(answer.note).toContain('Not used by list: message, budget.');
    expect((await fail({ operation: 'context', agent: 'dev', run_id: 'x' })).message).toMatch(
      /^There is no run/,
    );
    const alone = await fail({ operation: 'context', run_id: 'x' });
    expect(alone.steps).toMatchObject([{ operation: 'run_resume', args: { run_id: 'x' } }]);
  });

  it('every tool lists what it takes, but for a few old names', () => {
    const untold = operations.flatMap((operation) => {
      const listed = Object.keys(advertisedSchema(operation)['properties'] ?? {});
      const taken = Object.keys(operation.input.shape);
      expect(taken).toEqual(expect.arrayContaining(listed));
      return taken.filter((name) => !listed.includes(name)).map((name) => `${operation.name} ${name}`);
    });
    // The page alone shows a move before it is written.
    expect(untold).toEqual(['delegate_to_agent output_key', 'story_status show', 'story_status proposal']);
  });
});

describe('a run of another generation', () => {
  it('is continued under the name its workflow has now', async () => {
    const folder = join(await temporaryFolder(afterAll), 'project');
    copyFolder(join(await installOf('6.0.4'), '_bmad'), join(folder, '_bmad'));
    const before = await projectAt(folder);
    const { data } = await before.ask(runOpen, { workflow: 'create-prd' });
    const { run_id: id, workflow } = data['run'] as { run_id: string; workflow: string };
    expect(workflow).toBe('bmm/create-prd');
    await rm(join(folder, '_bmad'), { recursive: true });
    const { ask } = await projectAt(folder);
    for (const name of ['prd', 'bmm/create-prd']) {
      const { answer } = await ask(bmad, { operation: 'execute', workflow: name, run_id: id });
      expect(answer.body).toContain(
        'The run was started as bmm/create-prd, which this version calls bmm/bmad-prd.',
      );
    }
  });
});
