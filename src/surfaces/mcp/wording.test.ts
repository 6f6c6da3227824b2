import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { actionNote, inOfferedWords } from './wording.ts';

async function said(text: string, toolsets: string): Promise<string> {
  const context = await contextIn(await temporaryFolder(afterAll), { flags: { toolsets: [toolsets] } });
  return inOfferedWords(text, context.tools);
}

describe('the next step, in the words of the tools that are offered', () => {
  const text =
    'Files: bmad {"operation":"read","uri":"bmad://{type}/{name}"}. Start: bmad {"operation":"execute","workflow":"<name>"}; an agent: with "agent".';

  it('stays as it is where the unified tool is offered', async () => {
    expect(await said(text, 'bmad,workflows')).toBe(text);
  });

  it.each([
    [
      'workflows',
      'Files: the MCP resource bmad://{type}/{name}. Start: execute_workflow {workflow_name:"<name>"}.',
    ],
    [
      'agents',
      'Files: bmad-resources {operation:"read", uri:"bmad://{type}/{name}"}. Start: bmad-workflow {workflow:"<name>"}.',
    ],
    ['memory', 'Files: the MCP resource bmad://{type}/{name}. Start: the prompt of the workflow <name>.'],
  ])('is one of the set %s', async (toolsets, expected) => {
    expect(await said(text, toolsets)).toBe(expected);
  });

  it.each([
    ['{operation:"list", query:"agents"}', 'bmad-resources {operation:"agents"}', 'list_workflows {}'],
    [
      '{operation:"search", query:"…"}',
      'bmad-resources {operation:"search", query:"…"}',
      'list_workflows {}',
    ],
    [
      '{operation:"list", query:"resources", pattern:"a/**"}',
      'bmad-resources {operation:"list", pattern:"a/**"}',
      'the list of MCP resources',
    ],
    [
      '{operation:"execute", agent:"pm"}',
      'the tool or the prompt of the agent pm',
      'the tool or the prompt of the agent pm',
    ],
    [
      '{operation:"execute", workflow:"prd", run_id:"prd-1"}',
      'bmad-workflow {workflow:"prd", run_id:"prd-1"}',
      'execute_workflow {workflow_name:"prd", run_id:"prd-1"}',
    ],
    ['{operation:"agents"}', '{operation:"agents"}', '{operation:"agents"}'],
    ['{"operation":"read" broken}', '{"operation":"read" broken}', '{"operation":"read" broken}'],
  ])('%s', async (step, agents, workflows) => {
    expect(await said(step, 'agents')).toBe(agents);
    expect(await said(step, 'workflows')).toBe(workflows);
  });
});

describe('operations that are no tools', () => {
  async function noted(tool: string, text: string, toolsets: string): Promise<string | undefined> {
    const context = await contextIn(await temporaryFolder(afterAll), { flags: { toolsets: [toolsets] } });
    return actionNote(tool, [text], context.tools);
  }

  it('are told to be actions of the tool that carries them out', async () => {
    const text = 'After each step run_checkpoint, at the end run_finish; run_checkpoint again later.';
    expect(await noted('bmad', text, 'bmad,project')).toBe(
      'run_checkpoint, run_finish: actions of manage_project, e.g. {action:"run_checkpoint", args:{…}}.',
    );
    expect(await noted('manage_project', text, 'bmad,project')).toBeUndefined();
  });

  it('are commands where that tool is not offered', async () => {
    expect(await noted('bmad', 'task_claim takes it.', 'bmad')).toBe(
      'task_claim: only at the command line, e.g. bmad task claim.',
    );
  });

  it('need no word where none is named', async () => {
    expect(await noted('bmad', 'my_task_claim, run_id', 'bmad,project')).toBeUndefined();
  });
});
