import { say } from '../../../base/text/message.ts';
import type { MemoryData } from '../../../operations/memory/memory-view.ts';
import { inline } from '../screen/inline.ts';
import { line, span, type Line } from '../screen/lines.ts';
import { listing, muted, short, when, type Draw, type Page } from './parts.ts';

/** Memories in a table, each with the id that changes it. */
function memories(found: readonly MemoryData[], page: Page): Line[] {
  return listing(
    [
      { title: 'type' },
      { title: 'agent', drop: 2 },
      { title: 'memory', flexible: true },
      { title: 'changed', drop: 3 },
    ],
    found.map((memory) => ({
      cells: [
        line(span(memory.type, 'name')),
        line(memory.agent),
        inline(short(memory.text, 1_000), (memory.supersededBy ?? memory.forgottenAt) ? 'struck' : undefined),
        when(memory.updatedAt, page),
      ],
      below: muted(memory.id),
    })),
    page,
  );
}

export const memoriesScreen: Draw<{ memories: readonly MemoryData[] }> = (data, page) =>
  data.memories.length === 0 ? undefined : memories(data.memories, page);

type Hit = Omit<MemoryData, 'text'> & { snippet: string };

export const recallScreen: Draw<{ hits: readonly Hit[] }> = ({ hits }, page) =>
  hits.length === 0
    ? undefined
    : memories(
        hits.map((hit) => ({ ...hit, text: hit.snippet })),
        page,
      );

interface Used {
  items: readonly { name: string; kind: string; uses: number; last: string }[];
  problem?: string | undefined;
}

export const usageScreen: Draw<Used> = ({ items, problem }, page) =>
  items.length === 0 || problem !== undefined
    ? undefined
    : listing(
        [{ title: 'name' }, { title: 'kind' }, { title: 'starts', end: true }, { title: 'last' }],
        items.map(({ name, kind, uses, last }) => ({
          cells: [line(span(name, 'name')), muted(say(kind)), line(String(uses)), when(last, page)],
        })),
        page,
      );
