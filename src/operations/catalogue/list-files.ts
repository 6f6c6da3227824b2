import * as z from 'zod';
import { defineOperation } from '../operation.ts';

/** For programs: every file that can be read, with its place on disk. Models have `list` and `list_resources`. */
export const listFiles = defineOperation({
  name: 'list_files',
  title: 'List all files',
  description: 'Every readable file, where it is on disk, and which record owns it.',
  effect: 'read',
  input: z.strictObject({}),
  output: z.object({
    files: z.array(
      z.object({
        relativePath: z.string(),
        /** Nothing for a file that is made when it is asked for. */
        fullPath: z.string().optional(),
        source: z.string(),
        mimeType: z.string(),
      }),
    ),
  }),

  async run(_input, context) {
    const { catalogue, delivery } = await context.workspace();
    const trees = new Map(catalogue.sources.map(({ origin, tree }) => [origin, tree]));
    const onDisk = await catalogue.files.all();
    return {
      files: (await delivery.paths()).map(({ path, mimeType }) => {
        const origin = onDisk.get(path);
        const place = origin === undefined ? undefined : trees.get(origin)?.place(path);
        return {
          relativePath: path,
          ...(place === undefined ? {} : { fullPath: place }),
          source: origin?.kind ?? 'generated',
          mimeType,
        };
      }),
    };
  },

  render: ({ files }) => ({ body: files.map(({ relativePath }) => relativePath).join('\n') }),
});
