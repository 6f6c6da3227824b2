import type { Resource, Result, Server, ServerContext } from '@modelcontextprotocol/server';
import type { Call, Context } from '../../operations/context.ts';
import { ask } from './ask.ts';
import { dataOf } from './errors.ts';
import { answer, folderParams, pageParams, readParams } from './params.ts';

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
