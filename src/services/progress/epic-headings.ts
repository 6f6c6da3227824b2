import { withoutEnd } from '../../base/text/ends.ts';
import { fenceFollower } from '../../base/text/markdown.ts';

/** An epic or a story as the planning documents name it. */
export interface Planned {
  epic: number;
  /** `2`, or `2a` for one that was split; empty for an epic. */
  story: string;
  /** What the heading calls it. */
  title: string;
  file: string;
  line: number;
}

export interface Plan {
  epics: Planned[];
  stories: Planned[];
  /** Headings of the form of an epic's or a story's whose number cannot be read. */
  unread: { file: string; line: number; title: string }[];
}

/** Headings are translated with the document, `## Épopée 2 : Paiement`, `### Récit 2.1 : …`, and numbered: `### 5.1 Epic 1: Base`. */
const EPIC = /^#{1,4}\s*(?:\d+(?:\.\d+)*\.?\s+)?(?:epic|épique|épopée)\s+(\d{1,4})(?!\.?\d)/iu;
const STORY =
  /^#{2,5}\s*(?:\d+(?:\.\d+)*\.?\s+)?(?:user\s+)?(?:story|récit|histoire)\s+(\d{1,4})\.(\d{1,4}[a-z]?)/iu;
/** The form of both with something else where the number belongs, or nothing: `Epic A: Base`, `Story: Setup`; not `Epic List`. */
const UNNUMBERED =
  /^#{1,6}\s*(?:\d+(?:\.\d+)*\.?\s+)?(?:user\s+)?(?:epic|épique|épopée|story|récit|histoire)(?:\s*\S*[\d:–—]|\s+-\s|\s+\S+\s+:)/iu;

/** The epics and stories of a text, in its order; code fences left out, each once. */
export function plannedIn(file: string, text: string): Plan {
  const plan: Plan = { epics: [], stories: [], unread: [] };
  const isFenced = fenceFollower();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (isFenced(line) || !line.startsWith('#') || line.length > 400) continue;
    const [whole = '', epic, story = ''] = STORY.exec(line) ?? EPIC.exec(line) ?? [];
    const place = { file, line: index + 1 };
    if (epic === undefined) {
      if (UNNUMBERED.test(line)) plan.unread.push({ ...place, title: line.trim() });
      continue;
    }
    const title = withoutEnd(line.slice(whole.length).trim().replace(/^:\s*/, ''), '#').trim();
    const list = story === '' ? plan.epics : plan.stories;
    list.push({ epic: Number(epic), story: story.toLowerCase(), title, ...place });
  }
  return plan;
}

/** Several plans as one; what is named twice is kept where it was named first. */
export function joinedPlans(plans: readonly Plan[]): Plan {
  return {
    epics: [...firstOfEach(plans.flatMap(({ epics }) => epics)).values()],
    stories: [...firstOfEach(plans.flatMap(({ stories }) => stories)).values()],
    unread: plans.flatMap(({ unread }) => unread),
  };
}

/** What comes first of each epic or story, by its number. */
export function firstOfEach<T extends Pick<Planned, 'epic' | 'story'>>(all: readonly T[]): Map<string, T> {
  const known = new Map<string, T>();
  for (const one of all) if (!known.has(keyOf(one))) known.set(keyOf(one), one);
  return known;
}

export const keyOf = ({ epic, story }: Pick<Planned, 'epic' | 'story'>): string => `${epic}.${story}`;
