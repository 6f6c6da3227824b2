import { cell } from '../../src/base/text/text.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import * as z from 'zod';

/** What the pages show of one argument, as JSON Schema has it. */
export interface Property {
  type?: string;
  enum?: string[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  description?: string;
}

export function propertiesOf(operation: AnyOperation): [string, Property][] {
  const schema = z.toJSONSchema(operation.input, { io: 'input' });
  return Object.entries((schema.properties ?? {}) as Record<string, Property>);
}

export function propertyOf(schema: z.ZodType): Property {
  return z.toJSONSchema(schema, { io: 'input' }) as Property;
}

export function table(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [tableLine(header), `|${'---|'.repeat(header.length)}`, ...rows.map(tableLine)];
}

function tableLine(cells: readonly string[]): string {
  return `| ${cells.map(cell).join(' | ')} |`;
}

export function code(text: string): string {
  return `\`${text}\``;
}

export function shape({ type = 'any', enum: values, minimum, maximum }: Property): string {
  if (values !== undefined) return values.map(code).join(', ');
  const limits = minimum === undefined || maximum === undefined ? '' : `, ${minimum} to ${maximum}`;
  return `${type}${limits}`;
}
