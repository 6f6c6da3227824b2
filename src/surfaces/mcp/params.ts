import type { Result, Server, ServerContext } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { checkedValue } from '../../operations/input.ts';
import { protocolError } from './errors.ts';

export const pageParams = z.looseObject({ cursor: z.string().optional() });
export const promptParams = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.string()).optional(),
});
export const readParams = z.looseObject({ uri: z.string() });
export const folderParams = z.looseObject({ uri: z.string(), cursor: z.string().optional() });
export const completeParams = z.looseObject({
  ref: z.discriminatedUnion('type', [
    z.object({ type: z.literal('ref/prompt'), name: z.string() }),
    z.object({ type: z.literal('ref/resource'), uri: z.string() }),
  ]),
  argument: z.object({ name: z.string(), value: z.string() }),
});
export type CompleteParams = z.output<typeof completeParams>;

const ANYTHING = z.looseObject({});

/**
 * Answers a method whose parameters are checked here: the SDK's own check would report a caller's mistake as an
 * internal error, in as many words as there are mistakes.
 */
export function answer<S extends z.ZodObject>(
  server: Server,
  method: string,
  schema: S,
  handle: (params: z.output<S>, sdk: ServerContext) => Result | Promise<Result>,
): void {
  server.setRequestHandler(method, { params: ANYTHING }, async (raw, sdk) => {
    let params: z.output<S>;
    try {
      params = checkedValue(method, schema, raw);
    } catch (error) {
      throw error instanceof BmadError ? protocolError(error) : error;
    }
    return handle(params, sdk);
  });
}
