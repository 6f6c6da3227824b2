import { present } from '../../base/values.ts';
import * as z from 'zod';
import type { Step } from '../../base/step.ts';
import { localDay, oneLine } from '../../base/text/text.ts';
import { t } from '../../base/text/message.ts';
import { HOLDS_WITH, MEMORY_TYPES, type MemoryEntry } from '../../model/memory.ts';
import { projectField, tagsField, textUpTo } from '../fields.ts';

/** Fields and words that the operations about memories share. */

export const memoryTypeField = z.enum(MEMORY_TYPES);
export const memoryAgentField = textUpTo(200);

export const whichMemory = {
  id: textUpTo(100).describe('Exact id of the memory'),
  type: memoryTypeField.optional().describe('Needed if two types have the id'),
  project: projectField,
};

export const supersedesField = textUpTo(100).optional().describe('Id of a memory it replaces');
export const SUPERSEDES_SYNONYMS = { supersede: 'supersedes', replaces: 'supersedes' } as const;

export const allField = z.boolean().default(false).describe('Include forgotten and superseded ones');

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
  const { supersededAt, supersededBy, forgottenAt } = entry;
  return {
    id,
    type,
    agent,
    text,
    tags: [...tags],
    createdAt,
    updatedAt,
    revision,
    ...present({ supersededAt, supersededBy, forgottenAt }),
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
    supersededAt === undefined ? '' : t`superseded`,
    forgottenAt === undefined ? '' : t`forgotten`,
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

/** How memories stand to each other. */
type Relation = 'same text' | 'about the same';

/** How to say a memory in the language of the project. */
export function translatingSteps(id: string, language: { wanted: string } | undefined): Step[] {
  if (language === undefined) return [];
  return [{ operation: 'memory_update', args: { id }, open: ['text'], why: t`Say it in ${language.wanted}` }];
}

/** What can be done about the nearest memory; with the id of another one, the same call is about that. */
export function settlingSteps(fresh: string, similar: readonly { id: string }[]): Step[] {
  const [nearest, other] = similar;
  if (nearest === undefined) return [];
  return [
    {
      operation: 'memory_supersede',
      args: { id: nearest.id, by: fresh },
      why:
        other === undefined
          ? t`If the new one replaces it`
          : t`If the new one replaces the nearest, or another of these by its id`,
    },
    { operation: 'memory_keep_both', args: { id: fresh, other: nearest.id }, why: t`If both hold` },
  ];
}

/** `Nearest, 84 %: [decisions] pm, 2026-11-15, decisions-log.md, id 728c…: text`. */
export function relationLine({ relation, nearness, type, agent, updatedAt, source, id, text }: Near): string {
  const day = updatedAt === undefined ? [] : [localDay(new Date(updatedAt))];
  const about = [agent, ...day, ...(source === undefined ? [] : [source]), `id ${id}`].join(', ');
  const near = relation === 'same text' ? t`Same text as` : t`Near (${Math.round(nearness * 100)} %)`;
  return t`${near} [${type}] ${about}: ${text}`;
}

/** What a new memory has replaced. */
export function supersededLine({
  type,
  agent,
  id,
  text,
}: Pick<Near, 'type' | 'agent' | 'id' | 'text'>): string {
  return t`Supersedes [${type}] ${agent}, id ${id}: ${oneLine(text, 160)}`;
}

interface Near {
  relation: Relation;
  /** From 0 to 1. */
  nearness: number;
  type: string;
  agent: string;
  updatedAt?: string | undefined;
  /** The file that has it, where it is not in the store. */
  source?: string | undefined;
  id: string;
  text: string;
}
