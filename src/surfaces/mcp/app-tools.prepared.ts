import { operations } from '../../operations/index.ts';
import { advertisedSchema } from './schema.ts';

// Worked out when the programs are built, as operations/declared.prepared.ts is. Only plain data may leave this file.

/** The tools for hosts that show apps. */
export const APP_TOOLS_SHOWN = operations
  .filter(({ serves }) => serves === 'apps')
  .map((operation) => ({
    name: operation.name,
    title: operation.title,
    description: operation.description,
    inputSchema: advertisedSchema(operation),
    annotations: { readOnlyHint: true, openWorldHint: false },
  }));
