import * as z from 'zod';
import type { AnyOperation } from '../../operations/operation.ts';

/**
 * The schema a client sees. Checking stays with `execute`, so that every surface words its errors the same way; the
 * lengths of texts and lists are left out, because no model counts characters and every session pays for them.
 */
export function advertisedSchema(operation: AnyOperation): { type: 'object'; [key: string]: unknown } {
  const { $schema: _schema, ...schema } = z.toJSONSchema(operation.input, {
    io: 'input',
    override: ({ jsonSchema }) => {
      delete jsonSchema.minLength;
      delete jsonSchema.maxLength;
      delete jsonSchema.maxItems;
      delete jsonSchema.propertyNames;
    },
  });
  return { ...schema, type: 'object' };
}
