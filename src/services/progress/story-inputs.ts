import { t } from '../../base/text/message.ts';
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
}

/** Which stories a piece of work takes, the first state that has one decides; work that is begun comes before new work. */
const TAKES: readonly (readonly [Work, readonly StoryStatus[]])[] = [
  ['review story', ['review']],
  ['develop story', ['in-progress', 'ready-for-dev', 'drafted']],
  ['apply review', ['in-progress']],
  ['approve story', ['drafted']],
  ['create story', ['backlog']],
];

export const takesStories = (work: Work): boolean => TAKES.some(([each]) => each === work);

/** The file of the story that work on stories would take by the ledger, for a context that is about no named one. */
export function storyAtHand({ stories }: Report, works: readonly Work[]): string | undefined {
  const taken = TAKES.flatMap(([work, statuses]) => (works.includes(work) ? statuses : []));
  return taken
    .flatMap((status) => stories.filter((story) => story.likely === status && !isDone(story)))
    .find(({ file }) => file !== undefined)?.file?.file;
}

/** The story that is named by its key, its number or its file, as a workflow needs it; no other is looked for. */
export function storyInput(
  { stories, locations }: Report,
  works: readonly Work[],
  words: string | undefined,
): StoryInput | undefined {
  const named = words === undefined ? undefined : storyIn(stories, words);
  if (named === undefined) return undefined;
  const isReview = works.includes('review story');
  const gates = isReview || works.includes('apply review') ? locations.gates[0] : undefined;
  const does = { builds: works.includes('develop story'), drafts: works.includes('create story') };
  const folder = does.drafts && locations.v4 ? locations.stories[0] : undefined;
  return inputOf(named, { isReview, gates, folder, ...does });
}

interface Told extends Pick<StoryInput, 'builds' | 'drafts'> {
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
    // Version 4 has words of its own.
    status: (file?.v4 === true ? file.word : undefined) ?? likely ?? 'unknown',
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
          gate: { file: gate.file, says: gate.outdated ? t`${gate.gate}, older than the story` : gate.gate },
        }),
    ...(file !== undefined && isLeftOpen(story) ? { tasks: file.tasks } : {}),
    ...told,
  };
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
  if (text === '' || storyIn(stories, text) !== undefined) return undefined;
  const asked = ASKED.flatMap((form) => form.exec(text)?.[1] ?? [])[0];
  return asked === undefined ? undefined : { asked, known: stories.slice(0, NAMED).map(({ id }) => id) };
}

/** Stories that a text is about beyond doubt: a bare `1.2` may be the number of anything. */
export function storiesIn(stories: readonly Story[], text: string): Story[] {
  const words = new Set(text.toLowerCase().match(/[\p{L}\p{N}.-]+/gu) ?? []);
  const numbers = [...text.matchAll(/\b(?:story|récit|histoire)\s{1,3}#?(\d{1,4})[.-](\d{1,4})(?!\d)/giu)];
  return stories.filter(
    ({ id, epic, story, file }) =>
      (!/^[\d.]+$/.test(id) && words.has(id.toLowerCase())) ||
      (file !== undefined && text.includes(file.file)) ||
      numbers.some(([, ofEpic, ofStory]) => Number(ofEpic) === epic && ofStory === story),
  );
}

/** The story that a text names by its key, its number or its file. */
export const storyIn = (stories: readonly Story[], words: string): Story | undefined =>
  stories.find((story) => isNamed(story, words));

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
