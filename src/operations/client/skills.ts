import * as z from 'zod';
import { sha256, present } from '../../base/values.ts';
import { mapLimited } from '../../base/async.ts';
import { BmadError, ours, quoted } from '../../base/errors.ts';
import { saying } from '../../base/step.ts';
import { withoutHidden } from '../../base/text/hidden.ts';
import { listPage } from '../../base/text/paging.ts';
import type { Call, NamedSkill, ServerPort, Workspace } from '../context.ts';
import { cursorField, textUpTo } from '../fields.ts';
import { defineOperation } from '../operation.ts';

const PAGE = 50;
const READS_AT_ONCE = 8;

/** What every host has to accept; a larger skill is served without a list of its files. */
const FILE_LIMIT = 512;
const BYTE_LIMIT = 16 * 1024 * 1024;

const SKILL_FILE = 'SKILL.md';

const entrySchema = z.object({
  uri: z.string(),
  frontmatter: z.record(z.string(), z.unknown()),
  resources: z.union([
    z.array(z.object({ uri: z.string(), digest: z.string(), size: z.int() })),
    z.literal('dynamic'),
  ]),
});
type SkillEntry = z.output<typeof entrySchema>;

const uriField = textUpTo(20_000);

/** Skills as the MCP extension has them. The entries are made anew for each call, so that a digest is never old. */
export const listSkills = defineOperation({
  name: 'list_skills',
  title: 'List skills',
  description: 'Every agent, workflow and skill as a skill, with the digests of its files; a page at a time.',
  effect: 'read',
  serves: 'clients',
  input: z.strictObject({ cursor: cursorField }),
  output: z.object({ items: z.array(entrySchema), next: z.string().optional() }),
  async run({ cursor }, context, call) {
    const workspace = await context.workspace();
    const listed = workspace.delivery.skills.all().filter((skill) => skill.listed);
    const page = listPage(listed, PAGE, `skills ${listed.length}`, cursor);
    const entries = await mapLimited(page.part, READS_AT_ONCE, async (skill) => {
      call.signal.throwIfAborted();
      // A skill whose files cannot be read, or are gone, costs only itself.
      return entryOf(skill, workspace, context, call).catch(
        ours(({ message }) => context.log.warn('skill', { name: skill.name, error: message })),
      );
    });
    return { items: entries.filter((entry) => typeof entry === 'object'), ...present({ next: page.next }) };
  },
  render: ({ items }) => ({ body: items.map(({ uri }) => uri).join('\n') }),
});

export const getSkill = defineOperation({
  name: 'get_skill',
  title: 'Find a skill',
  description: 'One skill by the URI of its SKILL.md, with the digests of its files.',
  effect: 'read',
  serves: 'clients',
  input: z.strictObject({ uri: uriField.describe('skill://…/SKILL.md') }),
  output: entrySchema,
  async run({ uri }, context, call) {
    const workspace = await context.workspace();
    const { skill, path } = workspace.delivery.skills.locate(uri);
    if (path === SKILL_FILE) return entryOf(skill, workspace, context, call);
    throw new BmadError('invalid_input', `${quoted(uri)} is not the URI of a skill.`, {
      subject: uri.slice(0, 1_000),
      suggestions: [`${skill.root}/${SKILL_FILE}`],
      hint: 'Use the URI of its SKILL.md.',
    });
  },
  render: ({ uri }) => ({ body: uri }),
});

export const listSkillFolder = defineOperation({
  name: 'list_skill_folder',
  title: 'List a folder of a skill',
  description: 'The files and folders directly in a folder of a skill.',
  effect: 'read',
  serves: 'clients',
  input: z.strictObject({ uri: uriField.describe('skill:// URI of a folder'), cursor: cursorField }),
  output: z.object({
    items: z.array(
      z.object({ uri: z.string(), name: z.string(), folder: z.boolean(), mimeType: z.string() }),
    ),
    next: z.string().optional(),
  }),
  async run({ uri, cursor }, context, call) {
    const { skills, mimeTypeOf } = (await context.workspace()).delivery;
    const { skill, path } = skills.locate(uri);
    const prefix = path === '' ? '' : `${path}/`;
    const children = new Map<string, boolean>();
    for (const file of (await skills.open(skill, saying(call.say))).paths) {
      if (!file.startsWith(prefix)) continue;
      const [name = '', ...below] = file.slice(prefix.length).split('/');
      children.set(name, below.length > 0);
    }
    if (children.size === 0) {
      throw new BmadError('not_found', `${quoted(uri)} is not a folder.`, {
        subject: uri.slice(0, 1_000),
        suggestions: [skill.root],
        hint: 'This lists folders of a skill; read files with resources/read.',
      });
    }
    const page = listPage([...children], PAGE * 2, `folder ${uri} ${children.size}`, cursor);
    return {
      items: page.part.map(([name, folder]) => ({
        uri: skills.uri(skill, prefix + name),
        name: withoutHidden(name),
        folder,
        mimeType: folder ? 'inode/directory' : mimeTypeOf(name),
      })),
      ...present({ next: page.next }),
    };
  },
  render: ({ items }) => ({ body: items.map(({ name, folder }) => name + (folder ? '/' : '')).join('\n') }),
});

async function entryOf(
  skill: NamedSkill,
  { delivery }: Workspace,
  { secrets }: ServerPort,
  { say }: Call,
): Promise<SkillEntry> {
  const { skills } = delivery;
  const { paths, file } = await skills.open(skill, saying(say));
  const uri = skills.uri(skill, SKILL_FILE);
  const main = secrets.hide((await file(SKILL_FILE)).text ?? '');
  const frontmatter = skills.frontMatter(uri, main);
  if (paths.length > FILE_LIMIT) return { uri, frontmatter, resources: 'dynamic' };
  const readBytes = async (path: string): Promise<Buffer> => {
    const { bytes, text = '' } = await file(path);
    return bytes ?? Buffer.from(secrets.hide(text));
  };
  const resources = await mapLimited(paths, READS_AT_ONCE, async (path) => {
    // What is hashed is what will be read: text without the values that are kept secret.
    const bytes = path === SKILL_FILE ? Buffer.from(main) : await readBytes(path);
    const digest = sha256(bytes);
    return { uri: skills.uri(skill, path), digest: `sha256:${digest}`, size: bytes.byteLength };
  });
  const total = resources.reduce((sum, { size }) => sum + size, 0);
  return { uri, frontmatter, resources: total > BYTE_LIMIT ? 'dynamic' : resources };
}
