import * as z from 'zod';
import { listPage } from '../base/paging.ts';
import { contentUri } from '../base/paths.ts';
import { cursorField } from './fields.ts';
import { defineOperation } from './operation.ts';
import { findFile } from './targets.ts';

const PAGE = 100;

/** Files as MCP resources; unlike `list` and `read` they are never cut to the size of an answer. */
export const listResources = defineOperation({
  name: 'list_resources',
  title: 'List resources',
  description: 'All files that can be read, a page at a time.',
  effect: 'read',
  input: z.strictObject({ cursor: cursorField }),
  output: z.object({
    items: z.array(z.object({ uri: z.string(), name: z.string(), mimeType: z.string(), origin: z.string() })),
    next: z.string().optional(),
  }),
  async run({ cursor }, context) {
    const paths = await (await context.workspace()).delivery.paths();
    const page = listPage(paths, PAGE, `resources ${paths.length}`, cursor);
    return {
      items: page.part.map(({ path, mimeType, origin }) => ({
        uri: contentUri(path),
        name: path,
        mimeType,
        origin,
      })),
      ...(page.next === undefined ? {} : { next: page.next }),
    };
  },
  render: ({ items }) => ({ body: items.map(({ uri }) => uri).join('\n') }),
});

export const readResource = defineOperation({
  name: 'read_resource',
  title: 'Read a resource',
  description: 'One file, whole: text, or bytes in base64.',
  effect: 'read',
  input: z.strictObject({ uri: z.string().min(1).max(200_000).describe('bmad:// URI') }),
  output: z.object({
    mimeType: z.string(),
    text: z.string().optional(),
    blob: z.string().optional(),
    /** Where the content comes from, where that is not the project or the server itself. */
    origin: z
      .object({ name: z.string(), source: z.string().optional(), commit: z.string().optional() })
      .optional(),
  }),
  async run({ uri }, context) {
    const workspace = await context.workspace();
    const { path, from } = await findFile(uri, workspace, context);
    const file = await workspace.delivery.file(path, from);
    return {
      mimeType: file.mimeType,
      ...(file.text === undefined ? {} : { text: file.text }),
      ...(file.bytes === undefined ? {} : { blob: file.bytes.toString('base64') }),
      ...(file.origin === undefined || file.origin.kind === 'project' || file.origin.kind === 'package'
        ? {}
        : { origin: { name: file.origin.displayName, ...file.origin.git } }),
    };
  },
  render: ({ text, blob }) => ({ body: text ?? blob ?? '' }),
});
