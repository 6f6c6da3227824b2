import * as z from 'zod';
import { defineOperation } from '../operation.ts';

export const embedderRemove = defineOperation({
  name: 'embedder_remove',
  title: 'Remove a table of embeddings',
  description: 'Take a table off the list of those that were added. Its folder is left unchanged.',
  effect: 'write',
  command: 'embedder remove',
  positional: ['name'],
  examples: ['embedder remove potion-base-8M'],
  input: z.strictObject({ name: z.string().min(1).max(80).describe('What it is called') }),
  output: z.object({ name: z.string(), folder: z.string() }),
  async run({ name }, context) {
    return (await context.embedders()).remove(name);
  },
  render: ({ name, folder }) => ({ body: `Removed: ${name}. Its folder is as it was: ${folder}` }),
});
