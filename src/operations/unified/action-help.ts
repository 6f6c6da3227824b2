import * as z from 'zod';
import type { AnyOperation } from '../operation.ts';

/** What an action takes, told when a model asks for it: the tools that have actions do not advertise it. */
export function argumentsOf(operation: AnyOperation, name = operation.name): string {
  const { properties = {}, required = [] } = z.toJSONSchema(operation.input, { io: 'input' });
  const lines = Object.entries(properties).map(([field, schema]) => {
    const needed = required.includes(field) ? 'required' : 'optional';
    return `- ${field} (${typeOf(schema)}, ${needed})${textOf(schema)}`;
  });
  return [`${name}: ${operation.description}`, ...lines].join('\n');
}

type Schema = z.core.JSONSchema._JSONSchema;

function typeOf(schema: Schema): string {
  if (typeof schema === 'boolean') return 'anything';
  if (schema.enum !== undefined) return schema.enum.join(' | ');
  const items = Array.isArray(schema.items) ? undefined : schema.items;
  return items === undefined ? String(schema.type ?? 'anything') : `list of ${typeOf(items)}`;
}

function textOf(schema: Schema): string {
  return typeof schema === 'boolean' || schema.description === undefined ? '' : `: ${schema.description}`;
}
