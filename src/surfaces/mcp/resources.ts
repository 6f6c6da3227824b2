import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
} from '@modelcontextprotocol/server';
import type { Call, Context } from '../../operations/context.ts';
import { ask } from './ask.ts';
import { dataOf } from './errors.ts';
import { TEMPLATES } from './resource-templates.ts';

export async function resourceList(
  cursor: string | undefined,
  context: Context,
  call: Call,
): Promise<ListResourcesResult> {
  type Item = { uri: string; name: string; mimeType: string; origin: string; description?: string };
  type Page = { items: Item[]; next?: string };
  const { items, next } = dataOf<Page>(await ask('list_resources', { cursor }, context, call));
  return {
    resources: items.map(({ uri, name, mimeType, origin, description }) => ({
      uri,
      name,
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
    const { APP_URI, appContents } = await import('./apps.ts');
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
