import * as z from 'zod';
import { defineOperation } from '../operation.ts';
import { lines } from '../answer-text.ts';

export const embedderAdd = defineOperation({
  name: 'embedder_add',
  title: 'Add a table of embeddings',
  description:
    'Add a Model2Vec table: a folder with model.safetensors and tokenizer.json. It is read and checked, not copied, and used only once the settings name it.',
  effect: 'write',
  command: 'embedder add',
  positional: ['folder'],
  examples: ['embedder add ./models/potion-base-8M', 'embedder add ./models/potion --name potion'],
  input: z.strictObject({
    folder: z.string().min(1).max(1_000).describe('Folder with the table'),
    name: z.string().min(1).max(80).optional().describe('What to call it, if not as its folder'),
  }),
  output: z.object({
    name: z.string(),
    folder: z.string(),
    id: z.string(),
    dim: z.int(),
    rows: z.int(),
    dtype: z.string(),
    tokens: z.string(),
    bytes: z.int(),
    already: z.boolean().describe('Whether it had been added before'),
  }),
  async run({ folder, name: given }, context) {
    const embedders = await context.embedders();
    const { name, table, already } = await embedders.add(folder, given);
    const { id, dim, rows, dtype, tokens, bytes } = table;
    return { name, folder: table.folder, id, dim, rows, dtype, tokens, bytes, already };
  },
  render: ({ name, folder, id, dim, rows, dtype, tokens, bytes, already }) => ({
    body: lines(
      `${already ? 'Already there' : 'Added'}: ${name}, ${folder}`,
      `${rows} rows of ${dim} numbers (${dtype}), words cut by ${tokens}, ${megabytes(bytes)} MB in memory while it is used`,
      `Kept beside vectors: ${id}`,
      `To use it, set embedder = "table" and embedding_model = "${name}".`,
    ),
    steps: [{ operation: 'embedder_try', open: ['question'], why: 'Compare it with the others' }],
  }),
});

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0);
}
