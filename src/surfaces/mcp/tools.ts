import {
  ProtocolError,
  ProtocolErrorCode,
  type CallToolResult,
  type Tool,
} from '@modelcontextprotocol/server';
import { quoted } from '../../base/errors.ts';
import { nearest } from '../../base/suggest.ts';
import type { Call, Context } from '../../operations/context.ts';
import { execute } from '../../operations/execute.ts';
import { operations } from '../../operations/index.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import { advertisedSchema } from './schema.ts';

const offered = operations.filter((operation) => operation.toolset !== undefined);

let advertised: Tool[] | undefined;

/** The tools in a fixed order. They do not depend on the content, so the list is made once. */
export function toolList(): Tool[] {
  advertised ??= offered.map((operation) => ({
    name: operation.name,
    title: operation.title,
    description: operation.description,
    inputSchema: advertisedSchema(operation),
    annotations: {
      readOnlyHint: operation.effect === 'read',
      destructiveHint: operation.effect === 'destroy',
      idempotentHint: operation.effect === 'read',
      openWorldHint: false,
    },
    // Hosts with a tool search show only names at first; this one is the entry to everything.
    _meta: { 'anthropic/alwaysLoad': true },
  }));
  return advertised;
}

export async function callTool(
  name: string,
  args: unknown,
  context: Context,
  call: Call,
): Promise<CallToolResult> {
  const outcome = await execute(toolNamed(name), args, context, call);
  if (!outcome.ok) return { content: [{ type: 'text', text: outcome.error.text }], isError: true };
  const { body, note } = outcome.answer;
  const texts = note === undefined ? [body] : [body, note];
  return { content: texts.map((text) => ({ type: 'text', text })) };
}

function toolNamed(name: string): AnyOperation {
  const operation = offered.find((candidate) => candidate.name === name);
  if (operation !== undefined) return operation;
  const names = offered.map((candidate) => candidate.name);
  const near = nearest(name, names)[0] ?? names.join(', ');
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${quoted(name)}. Use ${near}.`, {
    suggestions: names,
  });
}
