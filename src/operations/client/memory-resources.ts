import { localDay } from '../../base/text/local-time.ts';
import { fenced } from '../../base/text/text.ts';
import { MEMORY_TYPES, type MemoryType } from '../../model/memory.ts';
import type { MemoryPort } from '../context.ts';
import { DATA_NOTE } from '../answer-text.ts';
import { headline, memoryData } from '../memory/memory-view.ts';

/** `bmad://memory/decisions` and `bmad://memory/decisions/{id}`. */
const MEMORY_URI = /^bmad:\/\/memory\/([a-z-]+)(?:\/([0-9a-f-]{36}))?$/i;

export interface MemoryPlace {
  type: MemoryType;
  id: string | undefined;
}

export function memoryPlace(uri: string): MemoryPlace | undefined {
  const [, name, id] = MEMORY_URI.exec(uri) ?? [];
  const type = MEMORY_TYPES.find((known) => known === name);
  return type === undefined ? undefined : { type, id };
}

export function memoryUri(type: MemoryType, id?: string): string {
  return `bmad://memory/${type}${id === undefined ? '' : `/${id}`}`;
}

/** All memories of a type as Markdown, or one of them with its earlier versions. */
export async function memoryText(
  { type, id }: MemoryPlace,
  context: MemoryPort,
  project?: string,
): Promise<string> {
  const memory = await context.memory(project);
  if (id === undefined) {
    const { text } = await memory.exported('markdown', { type });
    // The file of an export has this line in the words of the kit; here it is only read.
    const told = text.replace(/^> Exporté : (\S+) \| Entrées : (\d+)$/m, '> Exported: $1 | Entries: $2');
    return `${DATA_NOTE}\n\n${told}`;
  }
  const { entry, revisions } = await memory.get(id, type);
  const earlier = revisions.map(
    ({ revision, at, text }) => `\n## Revision ${revision}, ${localDay(new Date(at))}\n\n${fenced(text)}\n`,
  );
  return `${DATA_NOTE}\n\n# ${headline(memoryData(entry))}\n\n${fenced(entry.text)}\n${earlier.join('')}`;
}
