import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
  Resource,
  Result,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { Call, Context } from '../../operations/context.ts';
import { answer, dataOf, folderParams, pageParams, readParams } from './requests.ts';
import { ask } from './steps.ts';
import { TEMPLATES } from './resource-templates.ts';

export async function resourceList(
  cursor: string | undefined,
  context: Context,
  call: Call,
): Promise<ListResourcesResult> {
  type Item = {
    uri: string;
    name: string;
    title?: string;
    mimeType: string;
    origin: string;
    description?: string;
  };
  type Page = { items: Item[]; next?: string };
  const { items, next } = dataOf<Page>(await ask('list_resources', { cursor }, context, call));
  return {
    resources: items.map(({ uri, name, title, mimeType, origin, description }) => ({
      uri,
      name,
      ...(title === undefined ? {} : { title }),
      mimeType,
      description: description ?? `From ${origin}`,
    })),
    ...(next === undefined ? {} : { nextCursor: next }),
  };
}

export function templateList(): ListResourceTemplatesResult {
  return { resourceTemplates: [...TEMPLATES] };
}

export async function resourceRead(uri: string, context: Context, call: Call): Promise<ReadResourceResult> {
  if (uri.startsWith('ui://')) {
    const { APP_URI, appContents } = await import('./tool-extras.ts');
    if (uri === APP_URI) return appContents(context);
  }
  type File = { mimeType: string; text?: string; blob?: string; origin?: Record<string, string> };
  const { mimeType, text, blob, origin } = dataOf<File>(
    await ask('read_resource', { uri }, context, call),
    uri,
  );
  // The skills extension keeps the keys of its resources to its own prefix.
  const about = {
    uri,
    mimeType,
    ...(origin === undefined || uri.startsWith('skill:') ? {} : { _meta: { 'bmad/origin': origin } }),
  };
  return { contents: [blob === undefined ? { ...about, text: text ?? '' } : { ...about, blob }] };
}

/**
 * The skills extension of MCP. The SDK's own class registers resources, which this server does not do: it answers for
 * all resources in one place. So the three methods are answered here, with the same capability.
 */
export const SKILLS_CAPABILITY = { 'io.modelcontextprotocol/skills': { directoryRead: true } };

/** Entries are made from the disk as it is now, and a project's overrides show in them: not to be kept or shared. */
const UNCACHED = { ttlMs: 0, cacheScope: 'private' } as const;

type Skill = Record<string, unknown>;

export function answerSkills(
  server: Server,
  era: 'legacy' | 'modern',
  context: Context,
  callOf: (sdk: ServerContext) => Call,
  seen: (sdk: ServerContext) => Promise<void>,
): void {
  const caching = era === 'modern' ? UNCACHED : {};
  answer(server, 'skills/list', pageParams, async ({ cursor }, sdk): Promise<Result> => {
    await seen(sdk);
    const { items, next } = dataOf<{ items: Skill[]; next?: string }>(
      await ask('list_skills', { cursor }, context, callOf(sdk)),
    );
    return { skills: items, ...nextCursor(next), ...caching };
  });
  answer(server, 'skills/get', readParams, async ({ uri }, sdk): Promise<Result> => {
    const skill = dataOf<Skill>(await ask('get_skill', { uri }, context, callOf(sdk)));
    return { skill, ...caching };
  });
  answer(server, 'resources/directory/read', folderParams, async ({ uri, cursor }, sdk): Promise<Result> => {
    const { items, next } = dataOf<{ items: Resource[]; next?: string }>(
      await ask('list_skill_folder', { uri, cursor }, context, callOf(sdk)),
    );
    const resources = items.map(({ uri: place, name, mimeType }) => ({ uri: place, name, mimeType }));
    return { resources, ...nextCursor(next), ...caching };
  });
}

function nextCursor(next: string | undefined): { nextCursor?: string } {
  return next === undefined ? {} : { nextCursor: next };
}
