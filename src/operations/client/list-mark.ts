import * as z from 'zod';
import { sha256 } from '../../base/sha256.ts';
import { defineOperation } from '../operation.ts';
import { promptsFor } from './prompts.ts';
import { resourceItems } from './resources.ts';

/** A list of thousands is looked at whenever a file moves: page by page it would be made anew for each. */
export const listMark = defineOperation({
  name: 'list_mark',
  title: 'Compare a list',
  description: 'What stands for a whole list: it differs when any page of the list does.',
  effect: 'read',
  serves: 'surface',
  input: z.strictObject({
    list: z.enum(['prompts', 'resources']).describe('The list'),
    host: z.string().max(500).optional().describe('What the client calls itself'),
  }),
  output: z.object({ mark: z.string() }),
  async run({ list, host }, context) {
    const items = list === 'prompts' ? await promptsFor(host, context) : await resourceItems(context);
    return { mark: sha256(JSON.stringify(items)) };
  },
  render: ({ mark }) => ({ body: mark }),
});
