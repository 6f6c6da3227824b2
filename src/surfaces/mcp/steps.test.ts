import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import type { Step } from '../../base/step.ts';
import * as onDemand from '../../operations/on-demand.ts';
import { stepsFor, withoutRepeats } from './steps.ts';

const folder = await temporaryFolder(afterAll);

async function said(step: Omit<Step, 'why'>, toolsets: string): Promise<string | undefined> {
  const context = await contextIn(folder, { flags: { toolsets: [toolsets] } });
  return stepsFor(context.tools, onDemand)({ ...step, why: '' });
}

describe('a step, as a model can take it', () => {
  it.each([
    [
      { operation: 'read', args: { target: 'bmad://{type}/{name}', kind: 'resource' } },
      'bmad {operation:"read", uri:"bmad://{type}/{name}"}',
      'bmad-resources {operation:"read", uri:"bmad://{type}/{name}"}',
      'the MCP resource bmad://{type}/{name}',
    ],
    [
      { operation: 'list', args: { what: 'agents' } },
      'bmad {operation:"list", query:"agents"}',
      'bmad-resources {operation:"agents"}',
      'the list of prompts',
    ],
    [
      { operation: 'list', args: { what: 'workflows' } },
      'bmad {operation:"list", query:"workflows"}',
      'bmad-resources {operation:"workflows"}',
      'list_workflows {}',
    ],
    [
      { operation: 'search', open: ['query'] },
      'bmad {operation:"search", query:"…"}',
      'bmad-resources {operation:"search", query:"…"}',
      undefined,
    ],
    [
      { operation: 'list', args: { what: 'resources', pattern: 'a/**' } },
      'bmad {operation:"list", query:"resources", pattern:"a/**"}',
      'bmad-resources {operation:"list", pattern:"a/**"}',
      'the list of MCP resources',
    ],
    [
      { operation: 'execute', args: { name: 'pm', kind: 'agent' } },
      'bmad {operation:"execute", agent:"pm"}',
      'the tool or the prompt of the agent pm',
      'the tool or the prompt of the agent pm',
    ],
    [
      { operation: 'execute', args: { name: 'prd', kind: 'workflow', run_id: 'prd-1' } },
      'bmad {operation:"execute", workflow:"prd", run_id:"prd-1"}',
      'bmad-workflow {workflow:"prd", run_id:"prd-1"}',
      'execute_workflow {workflow_name:"prd", run_id:"prd-1"}',
    ],
    [
      { operation: 'get_skill', args: { uri: 'skill://bmm/prd/SKILL.md' } },
      'skills/get {uri:"skill://bmm/prd/SKILL.md"}',
      'skills/get {uri:"skill://bmm/prd/SKILL.md"}',
      'skills/get {uri:"skill://bmm/prd/SKILL.md"}',
    ],
  ])('%j', async (step, bmad, agents, workflows) => {
    expect(await said(step, 'bmad')).toBe(bmad);
    expect(await said(step, 'agents')).toBe(agents);
    expect(await said(step, 'workflows')).toBe(workflows);
  });

  it('is an action of the tool that carries it out, and nothing where that one is switched off', async () => {
    const step = { operation: 'task_claim', args: { task_id: 't-1' } };
    expect(await said(step, 'bmad,project')).toBe(
      'manage_project {action:"task_claim", args:{task_id:"t-1"}}',
    );
    expect(await said(step, 'bmad')).toBeUndefined();
  });

  it('is a command where only a person may take it', async () => {
    expect(await said({ operation: 'task_approve', args: { task_id: 't-1' } }, 'bmad')).toBe(
      'bmad task approve t-1 (for a person, in a terminal)',
    );
  });

  it('is the prompt of a workflow where no tool starts one', async () => {
    const step = { operation: 'execute', args: { name: 'prd', kind: 'workflow' } };
    expect(await said(step, 'memory')).toBe('the prompt of prd');
  });
});

describe('the other way to start a command of a person', () => {
  it('is given once in an answer', async () => {
    const context = await contextIn(folder);
    const own = ['/usr/bin/node', '/opt/bmad.cjs'];
    const way =
      stepsFor(context.tools, onDemand, own)({ operation: 'trust', args: { folder }, why: '' }) ?? '';
    expect(way).toContain('; where bmad is not installed: /usr/bin/node /opt/bmad.cjs trust');
    const short = way.slice(0, way.indexOf(';'));
    const shown = withoutRepeats;
    for (const _ of [1, 2])
      expect(shown([`Ask: ${way}.`, `Decide: ${way}`])).toEqual([`Ask: ${way}.`, `Decide: ${short}`]);
    const under = `1. Prove what is done\n   The user runs: ${way}`;
    expect(shown([way, under])).toEqual([way, under]);
  });
});
