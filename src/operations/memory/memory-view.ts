import * as z from 'zod';
import { localDay } from '../../base/text/local-time.ts';
import { oneLine } from '../../base/text/text.ts';
import { HOLDS_WITH, MEMORY_TYPES, type MemoryEntry } from '../../model/memory.ts';
import { projectField, tagsField } from '../fields.ts';

/** Fields and words that the operations about memories share. */

export const memoryTypeField = z.enum(MEMORY_TYPES);
export const memoryAgentField = z.string().min(1).max(200);

export const whichMemory = {
  id: z.string().min(1).max(100).describe('Exact id of the memory'),
  type: memoryTypeField.optional().describe('Needed if two types have the id'),
  project: projectField,
};

export const supersedesField = z.string().min(1).max(100).optional().describe('Id of a memory it replaces');
export const SUPERSEDES_SYNONYMS = { supersede: 'supersedes', replaces: 'supersedes' } as const;

export const selectionFields = {
  type: memoryTypeField.optional().describe('Only this type'),
  agent: memoryAgentField.optional().describe('Only this agent'),
  tags: tagsField.optional().describe('Only with all these tags'),
  since: z.string().max(40).optional().describe('Changed since this date'),
  until: z.string().max(40).optional().describe('Changed until this date'),
};

export const memorySchema = z.object({
  id: z.string(),
  type: memoryTypeField,
  agent: z.string(),
  text: z.string(),
  tags: z.array(z.string()),
  createdAt: z.string(),
  updatedAt: z.string(),
  revision: z.int(),
  supersededBy: z.string().optional(),
  supersededAt: z.string().optional(),
  forgottenAt: z.string().optional(),
});
export type MemoryData = z.output<typeof memorySchema>;

export function memoryData(entry: MemoryEntry): MemoryData {
  const { id, type, agent, text, tags, createdAt, updatedAt, revision } = entry;
  return {
    id,
    type,
    agent,
    text,
    tags: [...tags],
    createdAt,
    updatedAt,
    revision,
    ...(entry.supersededAt === undefined ? {} : { supersededAt: entry.supersededAt }),
    ...(entry.supersededBy === undefined ? {} : { supersededBy: entry.supersededBy }),
    ...(entry.forgottenAt === undefined ? {} : { forgottenAt: entry.forgottenAt }),
  };
}

type HeadlineData = Pick<
  MemoryData,
  'type' | 'agent' | 'tags' | 'updatedAt' | 'supersededAt' | 'forgottenAt'
>;

/** `[decisions] architect, 2026-11-15, auth jwt`. Undated entries of files have the first day there is. */
export function headline({ type, agent, tags, updatedAt, supersededAt, forgottenAt }: HeadlineData): string {
  const day = updatedAt.startsWith('1970') ? '' : localDay(new Date(updatedAt));
  return [
    `[${type}] ${agent}`,
    day,
    tags
      .filter((tag) => !tag.startsWith(HOLDS_WITH))
      .map((tag) => `#${tag}`)
      .join(' '),
    supersededAt === undefined ? '' : 'superseded',
    forgottenAt === undefined ? '' : 'forgotten',
  ]
    .filter((part) => part !== '')
    .join(', ');
}

const SNIPPET = 280;

/** A piece of a text where the words that were asked for are; with marks where something was left out. */
export function snippet(text: string, words: readonly string[]): { text: string; cut: boolean } {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= SNIPPET) return { text: line, cut: false };
  const plain = line
    .normalize('NFD')
    .replace(/[\u0300-\u036F]/g, '')
    .toLowerCase();
  const places = words.map((word) => plain.indexOf(word)).filter((at) => at >= 0);
  const first = places.length === 0 ? 0 : Math.max(0, Math.min(...places) - 60);
  if (first === 0) return { text: oneLine(line, SNIPPET), cut: true };
  return { text: `…${oneLine(line.slice(first), SNIPPET)}`, cut: true };
}
