import { markOf } from './change-feed.ts';
import * as z from 'zod';
import { once } from '../../base/async.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { contentUri } from '../../base/files/paths.ts';
import { saying } from '../../base/step.ts';
import { madeOnce, present } from '../../base/values.ts';
import { withoutHidden } from '../../base/text/hidden.ts';
import { listPage } from '../../base/text/paging.ts';
import { findFile } from '../catalogue/names.ts';
import type { Call, Context, ServedFile, Workspace } from '../context.ts';
import { cursorField, textUpTo } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { promptsFor } from './prompts.ts';
import { stateResources, stateText } from './state-resources.ts';

const PAGE = 100;

const SKILL_URI = /^skill:\/\//i;

const itemSchema = z.object({
  uri: z.string(),
  name: z.string(),
  title: z.string().optional(),
  mimeType: z.string(),
  origin: z.string(),
  description: z.string().optional(),
});
type ResourceItem = z.output<typeof itemSchema>;

/** Files and skills as MCP resources; unlike `list` and `read` they are never cut to the size of an answer. */
export const listResources = defineOperation({
  name: 'list_resources',
  title: 'List resources',
  description: 'All readable skills and files, a page at a time.',
  effect: 'read',
  serves: 'clients',
  input: z.strictObject({ cursor: cursorField }),
  output: z.object({ items: z.array(itemSchema), next: z.string().optional() }),
  async run({ cursor }, context) {
    const all = await resourceItems(context);
    const page = listPage(all, PAGE, `resources ${all.length}`, cursor);
    // Names of files, runs and memories are chosen by their authors; addresses have every character encoded.
    const items = page.part.map((item) => ({
      ...item,
      name: withoutHidden(item.name),
      ...present({ description: item.description && withoutHidden(item.description) }),
    }));
    return { items, ...present({ next: page.next }) };
  },
  render: ({ items }) => ({ body: items.map(({ uri }) => uri).join('\n') }),
});

/** All of them, in a fixed order. */
async function resourceItems(context: Context): Promise<ResourceItem[]> {
  const workspace = await context.workspace();
  const { skills, files } = await servedResources(workspace)();
  const own = workspace.project.root === undefined ? [] : await stateResources(context);
  // Skills come first: there are few of them, and they are what people look for. Spread, thousands would take ten times as long.
  return skills.concat(own, files);
}

/** Made once for each reading of the content: a client asks for one page after the other. */
const servedResources = madeOnce((workspace: Workspace) => once(() => makeResources(workspace)));

async function makeResources({
  delivery,
  catalogue,
}: Workspace): Promise<{ skills: ResourceItem[]; files: ResourceItem[] }> {
  const known = [...(await delivery.paths()).values()];
  const shown = known.filter(({ origin }) => origin !== catalogue.aside?.displayName);
  const files = shown.map(({ path, title, mimeType, origin, about }) => ({
    uri: contentUri(path),
    name: path,
    mimeType,
    origin,
    ...present({ title, description: about }),
  }));
  const skills = delivery.skills
    .all()
    .filter((skill) => skill.listed)
    .map((skill) => ({
      uri: delivery.skills.uri(skill, 'SKILL.md'),
      name: skill.name,
      mimeType: 'text/markdown',
      origin: skill.record.origin.displayName,
      description: skill.description,
    }));
  return { skills, files };
}

export const readResource = defineOperation({
  name: 'read_resource',
  title: 'Read a resource',
  description: 'One whole file: text, or bytes in base64.',
  effect: 'read',
  serves: 'clients',
  input: z.strictObject({ uri: textUpTo(200_000).describe('bmad:// or skill:// URI') }),
  output: z.object({
    mimeType: z.string(),
    text: z.string().optional(),
    blob: z.string().optional(),
    /** Where the content comes from, where that is not the project or the server itself. */
    origin: z
      .object({ name: z.string(), source: z.string().optional(), commit: z.string().optional() })
      .optional(),
  }),
  async run({ uri }, context, call) {
    const state = await stateText(uri, context, call);
    if (state !== undefined) return { mimeType: 'text/markdown', text: state.text };
    const workspace = await context.workspace();
    const place = SKILL_URI.test(uri) ? undefined : await findFile(uri, workspace, context);
    const file = await (place === undefined
      ? skillFile(uri, workspace, call)
      : workspace.delivery.file(place.path, place.from));
    return {
      mimeType: file.mimeType,
      ...present({ text: file.text, blob: file.bytes?.toString('base64') }),
      ...(file.origin === undefined || file.origin.kind === 'project' || file.origin.kind === 'package'
        ? {}
        : { origin: { name: file.origin.displayName, ...file.origin.git } }),
    };
  },
  render: ({ text, blob }) => ({ body: text ?? blob ?? '' }),
});

async function skillFile(
  uri: string,
  { delivery: { skills } }: Workspace,
  { say }: Call,
): Promise<ServedFile> {
  const { skill, path } = skills.locate(uri);
  if (path !== '') return (await skills.open(skill, saying(say))).file(path);
  throw new BmadError('not_found', `${quoted(uri)} is a folder.`, {
    subject: uri.slice(0, 1_000),
    suggestions: [skills.uri(skill, 'SKILL.md')],
    steps: [{ operation: 'list_skill_folder', args: { uri }, why: 'List its files' }],
  });
}

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
    return { mark: markOf(items) };
  },
  render: ({ mark }) => ({ body: mark }),
});
