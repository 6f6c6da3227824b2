import type { Step } from '../../base/step.ts';
import { localDay } from '../../base/text/local-time.ts';
import { written } from '../../base/text/text.ts';
import type { MemoryEntry } from '../../model/memory.ts';

/** How memories stand to each other, in the same words wherever it is said. */
const RELATIONS = {
  'same text': 'Same text as',
  'near-duplicate': 'Near-duplicate of',
  'may contradict': 'May contradict',
} as const;

type Relation = keyof typeof RELATIONS;

/** How to say a memory in the language of the project. */
export function translatingSteps(id: string, language: { wanted: string } | undefined): Step[] {
  if (language === undefined) return [];
  return [{ operation: 'memory_update', args: { id }, open: ['text'], why: `Say it in ${language.wanted}` }];
}

/** What can be done about a memory that a new one may contradict or repeat; about the first, which shows how. */
export function settlingSteps(fresh: string, similar: readonly { relation: Relation; id: string }[]): Step[] {
  const other = similar.find(({ relation }) => relation === 'may contradict') ?? similar[0];
  if (other === undefined) return [];
  const { id, relation } = other;
  return [
    { operation: 'memory_get', args: { id }, why: 'Read the other one in full' },
    { operation: 'memory_supersede', args: { id, by: fresh }, why: 'If the new one replaces it' },
    ...(relation === 'may contradict'
      ? [{ operation: 'memory_keep_both', args: { id: fresh, other: id }, why: 'If both hold' }]
      : []),
  ];
}

/** `May contradict [decisions] pm, decisions-log.md, id 728c…: text`. */
export function relationLine({ relation, type, agent, source, id, text }: Related): string {
  return `${RELATIONS[relation]} [${type}] ${agent}, ${source === undefined ? '' : `${source}, `}id ${id}: ${text}`;
}

/** What a new memory has replaced. */
export function supersededLine({ type, agent, id, text }: Omit<Related, 'relation'>): string {
  return `Supersedes [${type}] ${agent}, id ${id}: ${written(text, 160)}`;
}

interface Related {
  relation: Relation;
  type: string;
  agent: string;
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

/** What is to be known about something that is told: how often it is recorded, and what may contradict it. */
function toldMarks({ entry, also, against }: Distinct): string {
  const dated = entry.updatedAt.startsWith('1970') ? [] : [localDay(new Date(entry.updatedAt))];
  const about = [
    ...(against.length === 0 ? [] : [`id ${entry.id}`, ...dated]),
    ...(also === 0 ? [] : [`also recorded ×${also}`]),
  ].join(', ');
  const others = (['newer', 'older', undefined] as const).flatMap((wanted) => {
    const ids = against.filter(({ age }) => age === wanted).map(({ id }) => `id ${id}`);
    if (ids.length === 0) return [];
    const more = ids.length - NAMED;
    const named = `${ids.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    return [wanted === undefined ? named : `${named}, which ${ids.length === 1 ? 'is' : 'are'} ${wanted}`];
  });
  return [
    ...(about === '' ? [] : [`(${about})`]),
    ...(others.length === 0 ? [] : [`${RELATIONS['may contradict']} ${others.join('; ')}.`]),
  ].join(' ');
}

/** The same on one line with its text, which is cut where both have no room. */
export function toldLine(told: Distinct, most: number, text = told.entry.text): string {
  const marks = toldMarks(told);
  return marks === ''
    ? written(text, most)
    : `${written(text, Math.max(80, most - marks.length - 1))} ${marks}`;
}
