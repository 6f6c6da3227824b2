import { fenceFollower } from '../../base/text/markdown.ts';

/** An epic or a story as the planning documents name it. */
interface PlannedStory {
  epic: number;
  /** `2`, or `2a` for one that was split. */
  story: string;
  title: string;
  file: string;
  line: number;
}

interface PlannedEpic {
  epic: number;
  title: string;
  file: string;
  line: number;
}

export interface Plan {
  epics: PlannedEpic[];
  stories: PlannedStory[];
}

/** Headings are translated with the document: `## Épopée 2 : Paiement`, `### Récit 2.1 : …`. */
const EPIC = /^#{1,4}\s*(?:epic|épique|épopée)\s+(\d{1,4})(?!\.?\d)\s*[:.–—-]?\s*(.*?)\s*#*$/iu;
const STORY =
  /^#{2,5}\s*(?:user\s+)?(?:story|récit|histoire)\s+(\d{1,4})\.(\d{1,4}[a-z]?)\s*[:.–—-]?\s*(.*?)\s*#*$/iu;

/** The epics and stories of a text, in its order; code fences left out, each once. */
export function plannedIn(file: string, text: string): Plan {
  const plan: Plan = { epics: [], stories: [] };
  const isFenced = fenceFollower();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (isFenced(line) || !line.startsWith('#') || line.length > 400) continue;
    const place = { file, line: index + 1 };
    const story = STORY.exec(line);
    if (story !== null) {
      const [, epic = '', number = '', title = ''] = story;
      plan.stories.push({ epic: Number(epic), story: number.toLowerCase(), title, ...place });
      continue;
    }
    const epic = EPIC.exec(line);
    if (epic !== null) plan.epics.push({ epic: Number(epic[1]), title: epic[2] ?? '', ...place });
  }
  return plan;
}

/** Several plans as one; what is named twice is kept where it was named first. */
export function joinedPlans(plans: readonly Plan[]): Plan {
  const epics = new Map<number, PlannedEpic>();
  const stories = new Map<string, PlannedStory>();
  for (const plan of plans) {
    for (const epic of plan.epics) if (!epics.has(epic.epic)) epics.set(epic.epic, epic);
    for (const story of plan.stories) {
      const key = `${story.epic}.${story.story}`;
      if (!stories.has(key)) stories.set(key, story);
    }
  }
  return { epics: [...epics.values()], stories: [...stories.values()] };
}
