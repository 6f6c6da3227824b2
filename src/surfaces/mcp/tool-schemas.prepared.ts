import { operations } from '../../operations/index.ts';
import { advertisedSchema, type AdvertisedSchema } from './schema.ts';

// Worked out when the programs are built, as operations/declared.prepared.ts is. Only plain data may leave this file.

/** The schema that clients see of each tool, by name. */
export const TOOL_SCHEMAS: Readonly<Record<string, AdvertisedSchema>> = Object.fromEntries(
  operations
    .filter(({ toolset }) => toolset !== undefined)
    .map((operation) => [operation.name, advertisedSchema(operation)]),
);
