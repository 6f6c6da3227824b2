import * as z from 'zod';
import type { AnyOperation } from '../../operations/operation.ts';
import type { AdvertisedSchema } from './schema.ts';

/** What an answer says beside its data. Hosts that are given both show the data alone. */
const SAID = 'said';
const SAID_SCHEMA = {
  type: 'string',
  description: 'What the answer says first, its note and its next steps',
};
const FIRST_LINE = 300;

/** The data of an answer with the sentences that a reader must not miss. */
export function structuredAnswer(
  data: unknown,
  body: string,
  ...notes: readonly string[]
): Record<string, unknown> {
  const [first = ''] = body.split('\n', 1);
  const said = [first.slice(0, FIRST_LINE), ...notes].filter(Boolean).join('\n');
  return { ...(data as Record<string, unknown>), [SAID]: said };
}

/** The schema of that; a tool that stands for several operations answers with the data of the one that was meant. */
export function outputSchemaOf({ output, route }: AnyOperation): AdvertisedSchema {
  if (route !== undefined) return { type: 'object', properties: { [SAID]: SAID_SCHEMA } };
  const whole = z.toJSONSchema(output, { io: 'output', unrepresentable: 'any' });
  const { $schema: _dialect, additionalProperties: _strict, ...schema } = whole;
  return { ...schema, type: 'object', properties: { ...schema.properties, [SAID]: SAID_SCHEMA } };
}
