import * as z from 'zod';
import type { AnyOperation } from '../../operations/operation.ts';

/** Fields whose names say to a model all it needs; what people read about them is in the help of the commands. */
const PLAIN = new Set(
  'project cursor limit detail run_id branch args signed_by tags since until min_score'.split(' '),
);

const LEFT_OUT = ['minLength', 'maxLength', 'maxItems', 'propertyNames', 'pattern', 'minimum'] as const;

const MOST_ENTRIES = 200;

export type AdvertisedSchema = { type: 'object'; [key: string]: unknown };

/**
 * The schema a client sees. Checking stays with `execute`, so that every surface words its errors the same way; the
 * lengths, ranges and forms are left out, because no model counts characters and every session pays for them. So is
 * that nothing else is allowed: an argument that does not exist is answered with the list of those that do.
 */
export function advertisedSchema(
  operation: Pick<AnyOperation, 'input' | 'untold' | 'plain'>,
): AdvertisedSchema {
  const whole = z.toJSONSchema(operation.input, {
    io: 'input',
    override: ({ jsonSchema }) => {
      for (const key of LEFT_OUT) delete jsonSchema[key];
      // A model does ask for a thousand entries where two hundred are the most.
      if (jsonSchema.type !== 'integer' || (jsonSchema.maximum ?? 0) > MOST_ENTRIES)
        delete jsonSchema.maximum;
      if (isEmpty(jsonSchema.default)) delete jsonSchema.default;
      // Any value at all is written the way that validators of hosts understand.
      if (isAnything(jsonSchema.additionalProperties)) jsonSchema.additionalProperties = true;
    },
  });
  const { $schema: _schema, additionalProperties: _strict, ...schema } = whole;
  for (const name of operation.untold ?? []) delete schema.properties?.[name];
  for (const name of operation.plain ?? []) {
    const property = schema.properties?.[name];
    if (typeof property === 'object') delete property.description;
  }
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    // A list of all values says more than words about it.
    if (typeof property === 'object' && (PLAIN.has(name) || property.enum !== undefined))
      delete property.description;
  return { ...schema, type: 'object' };
}

function isAnything(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && Object.keys(schema).length === 0;
}

function isEmpty(value: unknown): boolean {
  return value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}
