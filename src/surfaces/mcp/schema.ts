import * as z from 'zod';
import type { AnyOperation } from '../../operations/operation.ts';

/** The schema a client sees. Checking stays with `execute`, so that every surface words its errors the same way. */
export function advertisedSchema(operation: AnyOperation): { type: 'object'; [key: string]: unknown } {
  const { $schema: _schema, ...schema } = z.toJSONSchema(operation.input, { io: 'input' });
  return { ...schema, type: 'object' };
}
