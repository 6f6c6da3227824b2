import { t } from '../../base/text/message.ts';
import type { Step } from '../../base/step.ts';
import { localDay } from '../../base/text/local-time.ts';
import { oneLine } from '../../base/text/text.ts';
import type { MemoryEntry } from '../../model/memory.ts';

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

/** The others are beside it, and name it. */
const NAMED = 2;

interface Distinct {
  entry: MemoryEntry;
  also: number;
  against: readonly { id: string; age?: 'newer' | 'older' | undefined }[];
}

/** What is to be known about something that is told: how often it is recorded, and what else is about the same. */
function toldMarks({ entry, also, against }: Distinct): string {
  const dated = entry.updatedAt.startsWith('1970') ? [] : [localDay(new Date(entry.updatedAt))];
  const about = [
    ...(against.length === 0 ? [] : [`id ${entry.id}`, ...dated]),
    ...(also === 0 ? [] : [t`also recorded ×${also}`]),
  ].join(', ');
  const others = (['newer', 'older', undefined] as const).flatMap((wanted) => {
    const ids = against.filter(({ age }) => age === wanted).map(({ id }) => `id ${id}`);
    if (ids.length === 0) return [];
    const more = ids.length - NAMED;
    const named = `${ids.slice(0, NAMED).join(', ')}${more > 0 ? t` and ${more} more` : ''}`;
    if (wanted === undefined) return [named];
    if (wanted === 'newer')
      return [ids.length === 1 ? t`${named}, which is newer` : t`${named}, which are newer`];
    return [ids.length === 1 ? t`${named}, which is older` : t`${named}, which are older`];
  });
  return [
    ...(about === '' ? [] : [`(${about})`]),
    ...(others.length === 0 ? [] : [t`About the same as ${others.join('; ')}.`]),
  ].join(' ');
}

/** The same on one line with its text, which is cut where both have no room. */
export function toldLine(told: Distinct, most: number, text = told.entry.text): string {
  const marks = toldMarks(told);
  return marks === ''
    ? oneLine(text, most)
    : `${oneLine(text, Math.max(80, most - marks.length - 1))} ${marks}`;
}
