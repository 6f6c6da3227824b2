import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import type { Context } from '../../operations/context.ts';
import { instructionsFor } from './instructions.ts';
import { callTool, toolList } from './tools.ts';

async function without(...excludeTools: string[]): Promise<Context> {
  const flags = { excludeTools, toolsets: 'bmad,agents' };
  return contextIn(await temporaryFolder(afterAll), { flags });
}

const textOf = async (context: Context, args: object): Promise<string> =>
  (await callTool('bmad', args, context, testCall())).content
    .map((part) => ('text' in part ? part.text : ''))
    .join('\n');

describe('M-20: search that is switched off', () => {
  it('is neither in a schema nor in the instructions, and all else stays', async () => {
    const [all, some] = [await without(), await without('search')];
    const told = async (context: Context): Promise<string> =>
      JSON.stringify(await toolList(context, testCall())) + instructionsFor(context.tools);
    expect(await told(all)).toMatch(/"search"/);
    expect(await told(some)).not.toMatch(/\bsearch\b/);
    const fixed = (await toolList(some, testCall())).find(({ name }) => name === 'bmad');
    const before = (await toolList(all, testCall())).find(({ name }) => name === 'bmad');
    expect(Object.keys(fixed?.inputSchema.properties ?? {})).toEqual(
      Object.keys(before?.inputSchema.properties ?? {}),
    );
    expect(JSON.stringify(fixed)).toContain('"list","read","execute"');
  });

  it('is refused with the setting, and recommended by no answer', async () => {
    const context = await without('search');
    expect(await textOf(context, { operation: 'search', query: 'prd' })).toBe(
      'The operation "search" is turned off.\n\nexclude_tools names it (flag --exclude-tools).',
    );
    const unknown = await textOf(context, { operation: 'execute', agent: 'nobody' });
    expect(unknown).toContain('{operation:"list", query:"agents"}');
    expect(unknown).not.toContain('search');
    expect(await textOf(context, {})).not.toContain('search');
  });

  it('may be named by a pattern', async () => {
    expect(await textOf(await without('sear*'), { operation: 'search', query: 'prd' })).toContain(
      'The operation "search" is turned off.',
    );
  });

  it('may be any operation behind the tool, and no other word', async () => {
    const context = await without('context', 'doctor');
    const [tool] = await toolList(context, testCall());
    expect(JSON.stringify(tool)).not.toMatch(/"doctor"|"context"|context: tokens/);
    const error = await refusal(() => without('serch'));
    expect(error.message).toBe('flag --exclude-tools: there is no tool "serch".');
  });
});
