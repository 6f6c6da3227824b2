import { afterAll, describe, expect, it } from 'vitest';
import { installOf, type Version } from '../../../tests/support/installs.ts';
import { openSession, type Session } from '../../../tests/support/operations.ts';
import { getWorkflowDetails } from './details.ts';

async function over(version: Version): Promise<Session> {
  return openSession(afterAll, { flags: { project: await installOf(version), discovery: 'local' } });
}

describe('get_workflow_details', () => {
  it('knows a skill by its help rows', async () => {
    const session = await openSession(afterAll);
    const { data, answer } = await session.ok(getWorkflowDetails, { workflow_name: 'spec' });
    expect(data).toMatchObject({
      name: 'bmm/bmad-spec',
      module: 'bmm',
      kind: 'workflow',
      path: 'bmm/plan/bmad-spec/SKILL.md',
      phase: 'plan',
      category: 'planning',
      inputs: ['[path]'],
      outputs: ['SPEC.md + companion files ({output_folder}/specs/spec-{slug})'],
    });
    expect(data['files']).toContain('bmad://bmm/plan/bmad-spec/customize.toml');
    expect(JSON.parse(answer.body)).toEqual(data);
  });

  it('knows a workflow in YAML by what it says itself', async () => {
    const { data } = await (
      await over('6.0.0-alpha.7')
    ).ok(getWorkflowDetails, {
      workflow_name: 'testarch-trace',
    });
    expect(data).toMatchObject({ author: 'BMad', phase: 'testarch', category: 'other' });
    expect(data['inputs']).toContain('test_dir: {project-root}/tests');
    expect(data['outputs']).toContain('{output_folder}/traceability-matrix.md');
    expect(data['files']).toContain('bmad://bmm/workflows/testarch/trace/instructions.md');
  });

  it('knows a workflow of version 4 by its sequence', async () => {
    const { data } = await (
      await over('4.44.3')
    ).ok(getWorkflowDetails, {
      workflow_name: 'bmad-core/greenfield-fullstack',
    });
    expect(data['outputs']).toEqual(expect.arrayContaining(['project-brief.md', 'prd.md']));
    expect(data['files']).toEqual(['bmad://.bmad-core/workflows/greenfield-fullstack.yaml']);
  });

  it('suggests a near name', async () => {
    const session = await openSession(afterAll);
    const error = await session.fail(getWorkflowDetails, { workflow_name: 'sprint-planing' });
    expect([error.code, error.suggestions[0]]).toEqual(['not_found', 'sprint-planning']);
    expect((await session.fail(getWorkflowDetails, {})).message).toContain('"workflow_name" is missing');
  });
});
