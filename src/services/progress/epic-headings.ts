import { fenceFollower } from '../../base/text/markdown.ts';

/** An epic or a story as the planning documents name it. */
export interface Planned {
  epic: number;
  /** `2`, or `2a` for one that was split; empty for an epic. */
  story: string;
  file: string;
  line: number;
}

export interface Plan {
  epics: Planned[];
  stories: Planned[];
}

/** Headings are translated with the document, `## Épopée 2 : Paiement`, `### Récit 2.1 : …`, and numbered: `### 5.1 Epic 1: Base`. */
const EPIC = /^#{1,4}\s*(?:\d+(?:\.\d+)*\.?\s+)?(?:epic|épique|épopée)\s+(\d{1,4})(?!\.?\d)/iu;
const STORY =
  /^#{2,5}\s*(?:\d+(?:\.\d+)*\.?\s+)?(?:user\s+)?(?:story|récit|histoire)\s+(\d{1,4})\.(\d{1,4}[a-z]?)/iu;

/** The epics and stories of a text, in its order; code fences left out, each once. */
export function plannedIn(file: string, text: string): Plan {
  const plan: Plan = { epics: [], stories: [] };
  const isFenced = fenceFollower();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (isFenced(line) || !line.startsWith('#') || line.length > 400) continue;
    const [, epic, story = ''] = STORY.exec(line) ?? EPIC.exec(line) ?? [];
    if (epic === undefined) continue;
    const list = story === '' ? plan.epics : plan.stories;
    list.push({ epic: Number(epic), story: story.toLowerCase(), file, line: index + 1 });
  }
  return plan;
}

/** Several plans as one; what is named twice is kept where it was named first. */
export function joinedPlans(plans: readonly Plan[]): Plan {
  return {
    epics: [...firstOfEach(plans.flatMap(({ epics }) => epics)).values()],
    stories: [...firstOfEach(plans.flatMap(({ stories }) => stories)).values()],
  };
}

/** What comes first of each epic or story, by its number. */
export function firstOfEach<T extends Pick<Planned, 'epic' | 'story'>>(all: readonly T[]): Map<string, T> {
  const known = new Map<string, T>();
  for (const one of all) if (!known.has(keyOf(one))) known.set(keyOf(one), one);
  return known;
}

export const keyOf = ({ epic, story }: Pick<Planned, 'epic' | 'story'>): string => `${epic}.${story}`;
