import { posix } from 'node:path';
import { withoutEnd } from '../../base/text/ends.ts';
import { at, type Evidence } from './model.ts';
import type { Report } from './report.ts';
import { isDone, isLeftOpen, planEvidence, type Story } from './stories.ts';
import type { StoryFile } from './story-files.ts';
import type { StoryStatus } from './words.ts';
import type { Work } from './workers.ts';

/** What changes are compared with; where git has told it, with the commit that the file came with, if it has been committed. */
interface Base {
  commit: string | undefined;
  added?: string | undefined;
}

/** The story that a workflow works on, as its text would have to look for it. */
export interface StoryInput {
  id: string;
  /** Its row in the ledger, where it has one. */
  key?: string;
  /** How far it is, in the ledger's word. */
  status: string;
  /** Its file; where it has none yet, the place that plans it. */
  place: string;
  isPlanned: boolean;
  /** Where its file is to be written, in version 4: its texts and its template disagree about the name. */
  writes?: string;
  /** For a review: the commit that its changes begin at, or that its file should note one and does not. */
  base?: Base;
  /** For a review of a spec: its own word for how far it is, and what plans the story where it has no criteria itself. */
  spec?: { says: string | undefined; criteria?: string };
  /** For a review in version 4: what QA decided before, or the folder where that is to be written. */
  gate?: { file: string; says: string } | { folder: string };
  /** Of one that is called built: its tasks, where some are not ticked. */
  tasks?: { done: number; total: number };
  /** Whether code is written for it. */
  builds: boolean;
  /** Whether its file is written, which has to be there for all other work. */
  drafts: boolean;
  /** How many others are as far as it. */
  others: number;
}

/** Which stories a piece of work takes, the first state that has one decides. */
const TAKES: Partial<Record<Work, readonly StoryStatus[]>> = {
  'create story': ['backlog'],
  'approve story': ['drafted'],
  'develop story': ['in-progress', 'ready-for-dev', 'drafted'],
  'apply review': ['in-progress'],
  'review story': ['review'],
};
/** Work on a story that is begun comes before a new one, whatever a workflow can do. */
const ORDER: readonly Work[] = [
  'review story',
  'develop story',
  'apply review',
  'approve story',
  'create story',
];

/** The story that work is for: the one that is named, else the one that `next` would name. */
export function storyInput(
  { stories, locations }: Report,
  works: readonly Work[],
  words: string | undefined,
): StoryInput | undefined {
  const own = ORDER.filter((work) => works.includes(work));
  const isReview = own[0] === 'review story';
  const gates = own.some((work) => work === 'review story' || work === 'apply review')
    ? locations.gates[0]
    : undefined;
  const does = { builds: own.includes('develop story'), drafts: own.includes('create story') };
  const folder = does.drafts && locations.v4 ? locations.stories[0] : undefined;
  const named = words === undefined ? undefined : stories.find((story) => isNamed(story, words));
  // Another story is not what was asked for.
  if (named === undefined && unknownStory(stories, words) !== undefined) return undefined;
  if (named !== undefined) return inputOf(named, { isReview, gates, folder, ...does, others: 0 });
  for (const status of own.flatMap((work) => TAKES[work] ?? [])) {
    const [story, ...others] = stories.filter((each) => each.likely === status && !isDone(each));
    if (story !== undefined)
      return inputOf(story, { isReview, gates, folder, ...does, others: others.length });
  }
  return undefined;
}

interface Told extends Pick<StoryInput, 'builds' | 'drafts' | 'others'> {
  isReview: boolean;
  /** The folder of gates. */
  gates: string | undefined;
  /** The folder that a new story is written to. */
  folder: string | undefined;
}

function inputOf(story: Story, { isReview, gates, folder, ...told }: Told): StoryInput | undefined {
  const { id, row, file, planned, likely, gate } = story;
  const place: Evidence | undefined =
    file === undefined ? planEvidence(planned)[0] : { file: file.file, says: '' };
  if (place === undefined) return undefined;
  return {
    id,
    ...(row === undefined ? {} : { key: row.key }),
    status: likely ?? 'unknown',
    place: at(place),
    isPlanned: file === undefined,
    ...(file === undefined && folder !== undefined
      ? { writes: posix.join(folder, `${story.epic}.${story.story}.story.md`) }
      : {}),
    // Only the specs of newer versions have it.
    ...(isReview && file?.isSpec === true
      ? { base: { commit: file.baseline }, spec: ownWords(file, planEvidence(planned)[0]) }
      : {}),
    // What was decided is for whoever works on the story again, too.
    ...(gate === undefined
      ? file?.v4 === true && gates !== undefined
        ? { gate: { folder: gates } }
        : {}
      : {
          gate: { file: gate.file, says: gate.outdated ? `${gate.gate}, older than the story` : gate.gate },
        }),
    ...(file !== undefined && isLeftOpen(story) ? { tasks: file.tasks } : {}),
    ...told,
  };
}

/** How many stories of version 4 are planned, done, and still to be written, for work that does nothing but write them. */
export function draftsIn(
  { stories, locations }: Report,
  works: readonly Work[],
): { planned: number; done: number; left: number } | undefined {
  const isDraft = works.every((work) => work === 'create story' || work === 'sprint planning');
  if (works.length === 0 || !isDraft || !locations.v4 || stories.length === 0) return undefined;
  const done = stories.filter(isDone).length;
  const left = stories.filter((story) => story.likely === 'backlog' && !isDone(story)).length;
  return { planned: stories.length, done, left };
}

function ownWords(
  { word, hasCriteria }: StoryFile,
  plan: Evidence | undefined,
): NonNullable<StoryInput['spec']> {
  return { says: word, ...(hasCriteria || plan === undefined ? {} : { criteria: at(plan) }) };
}

/** `story 1.2`; or nothing but `1.2`, `1-2-login`, `docs/stories/1.2.login.md`, behind a command or not. */
const ASKED = [
  /\b(?:story|récit|histoire)\s{1,3}#?(\d{1,4}[.-]\d{1,4})(?!\d|\.\d)/iu,
  /^(?:\*[\w-]{1,40}\s{1,3})?(?:[\w./-]{0,200}\/)?(\d{1,4}[.-]\d{1,4})(?:[.-][a-z][\w-]{0,100})?(?:\.md)?$/iu,
];
const NAMED = 6;

/** The number of a story that is asked for and that there is none of, with those there are. */
export function unknownStory(
  stories: readonly Story[],
  words: string | undefined,
): { asked: string; known: string[] } | undefined {
  const text = words?.trim() ?? '';
  if (text === '' || stories.some((story) => isNamed(story, text))) return undefined;
  const asked = ASKED.flatMap((form) => form.exec(text)?.[1] ?? [])[0];
  return asked === undefined ? undefined : { asked, known: stories.slice(0, NAMED).map(({ id }) => id) };
}

/** `1.2.story.md`: the number is what counts, the file may not be there yet. */
const FILE = /^(\d{1,4})[.-](\d{1,4})[.-][\w-]{1,100}\.md$/;

/** `1-2-login`, `1.2`, `story 1-2`, or the path of its file, as it is or will be. */
function isNamed({ id, epic, story, file }: Story, words: string): boolean {
  if (file !== undefined && words.includes(file.file)) return true;
  const tokens = words.toLowerCase().match(/[\p{L}\p{N}.-]+/gu) ?? [];
  return tokens.some((token) => {
    const plain = withoutEnd(token, '.');
    const [, ofEpic, ofStory] = FILE.exec(plain) ?? [];
    if (ofEpic !== undefined && Number(ofEpic) === epic && ofStory === story) return true;
    return plain === id.toLowerCase() || plain === `${epic}.${story}` || plain === `${epic}-${story}`;
  });
}
