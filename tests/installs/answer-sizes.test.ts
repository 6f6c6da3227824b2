import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../scripts/reference/limits.ts';
import { callTool, toolList } from '../../src/surfaces/mcp/tools.ts';
import { TOOLSETS } from '../../src/base/product.ts';
import { contextIn, testCall } from '../support/app.ts';
import { installOf } from '../support/installs.ts';
import { usually } from '../support/how-much.ts';

/** Calls that ask for much, with whatever the answer is by default. */
const CALLS: [string, Record<string, unknown>][] = [
  ['bmad', { operation: 'list', query: 'workflows' }],
  ['bmad', { operation: 'list', query: 'resources' }],
  ['bmad', { operation: 'execute', agent: 'bmm/architect' }],
  ['bmad', { operation: 'search', query: 'plan design test review' }],
  ['list_workflows', {}],
  ['list_tasks', {}],
  ['get_workflow_details', { workflow_name: 'bmm/code-review' }],
  ['execute_workflow', { workflow_name: 'bmm/code-review' }],
  ['bmad-workflow', { workflow: 'bmm/code-review' }],
  ['bmad-resources', { operation: 'list' }],
  ['bmad-resources', { operation: 'workflows' }],
  ['bmm-architect', { message: 'Hello' }],
];

describe.each(usually(['6.12.0', '6.0.0-alpha.7', '6.0.0-alpha.22']))(
  'on an install of %s',
  async (version) => {
    const context = await contextIn(await installOf(version), { flags: { toolsets: [...TOOLSETS] } });

    it.each(CALLS)('%s %j answers in at most 10 kB where the host cuts', async (name, args) => {
      const result = await callTool(name, args, context, { ...testCall(), host: 'codex-mcp-client' });
      const texts = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
      expect(result.isError, texts.join('\n')).toBeUndefined();
      expect(Buffer.byteLength(texts.join('\n'))).toBeLessThanOrEqual(LIMITS.answerBytes);
    });

    it('has no more tools than hosts take, all with names and descriptions they take', async () => {
      const tools = await toolList(context, testCall());
      expect(tools.length).toBeLessThanOrEqual(LIMITS.toolCount);
      for (const { name, description = '' } of tools) {
        expect(name).toMatch(LIMITS.name);
        expect(name.length).toBeLessThanOrEqual(LIMITS.nameLength);
        expect(description.length).toBeLessThanOrEqual(LIMITS.descriptionLength);
      }
    });
  },
);
