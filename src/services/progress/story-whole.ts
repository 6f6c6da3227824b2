import { placed } from '../../base/text/text.ts';
import { headingIn } from '../../base/text/markdown.ts';
import { present } from '../../base/values.ts';
import type { Report, Story } from './found.ts';
import { ProjectFiles } from './places.ts';
import { readReport } from './report.ts';
import { columnOf, type Drift, fileWords, storyStatus, wordsFor } from './rules.ts';
import { criteriaIn, type Passage, plannedText, sectionsLike, type Source, sourceAt } from './story-brief.ts';
import { noSuchStory, storyNamed } from './story-status.ts';

/** A story as people read it: what it is for, what has to be fulfilled, what is done of it. */
interface WholeStory {
  id: string;
  number: string;
  epic: { number: string; title: string };
  title: string;
  status: string | undefined;
  column: string;
  /** The words that it can be set to, and the column of a board where each leads. */
  words: string[];
  columns: Record<string, string>;
  text: Passage | undefined;
  criteria: Passage | undefined;
  tasks: { text: string; done: boolean; depth: number }[];
  places: string[];
  drift: Drift[];
}

const OWN_TEXT = /^(?:(?:user )?story|récit|histoire|intent)$/iu;
const TASKS = /^(?:tasks|tâches)/iu;
const MOST_TASKS = 200;

/** The story that an exact number or key names. */
export async function wholeStory(root: string, asked: string): Promise<WholeStory> {
  const files = new ProjectFiles(root);
  const report = await readReport(root, files);
  const story = storyNamed(report, asked);
  if (story === undefined) throw noSuchStory(report, asked);
  const { file, planned, row } = story;
  const own = file === undefined ? undefined : await sourceAt(files, file.file);
  const plan = planned === undefined ? undefined : await plannedText(files, planned);
  const item = report.items.find(({ kind, id }) => kind === 'story' && id === story.id);
  const epic = report.epics.find((one) => one.epic === story.epic);
  const words = wordsOf(story, report);
  return {
    id: story.id,
    number: `${story.epic}.${story.story}`,
    epic: { number: String(story.epic), title: epic?.planned?.title ?? '' },
    title: withoutNumber(item?.title ?? story.id, story),
    status: (row?.word ?? file?.word) || undefined,
    column: item?.column ?? columnOf({ state: 'unknown' }),
    words,
    columns: Object.fromEntries(words.map((word) => [word, columnFor(word)])),
    text: own === undefined ? plan && aboveCriteria(plan) : sectionsLike(own, OWN_TEXT)[0],
    criteria: (own && criteriaIn(own)) ?? (plan && criteriaIn(plan)),
    tasks: own === undefined ? [] : tasksOf(own),
    places: [
      ...(row === undefined || report.sprint === undefined
        ? []
        : [placed({ file: report.sprint.file, line: row.line })]),
      ...(file === undefined ? [] : [file.file]),
      ...(planned === undefined ? [] : [placed(planned)]),
    ],
    drift: report.drift.filter(({ about }) => about === story.id || about === row?.key),
  };
}

const withoutNumber = (title: string, { epic, story }: Story): string =>
  title.startsWith(`${epic}.${story} `) ? title.slice(`${epic}.${story} `.length) : title;

function columnFor(word: string): string {
  const status = storyStatus(word);
  return columnOf({
    state: status === 'done' ? 'complete' : status === 'backlog' ? 'not started' : 'in progress',
    status,
  });
}

/** Neither a row nor a file: there is nothing to set. */
function wordsOf({ row, file }: Story, { sprint }: Report): string[] {
  if (row !== undefined && sprint !== undefined) return wordsFor('story', sprint);
  return file === undefined ? [] : [...fileWords(file)];
}

/** What a plan says of a story, without its heading and without what it has to fulfil. */
function aboveCriteria({ text, ...place }: Passage): Passage | undefined {
  const lines = text.split('\n').filter((line) => headingIn(line) === undefined);
  const end = lines.findIndex((line) => /acceptance|critères?/iu.test(line));
  const said = lines
    .slice(0, end === -1 ? undefined : end)
    .join('\n')
    .trim();
  return said === '' ? undefined : present({ ...place, text: said });
}

function tasksOf(own: Source): WholeStory['tasks'] {
  const lines = sectionsLike(own, TASKS).flatMap(({ text }) => text.split('\n'));
  return lines
    .flatMap((line) => {
      const [, indent = '', mark, text = ''] = /^(\s*)[-*]\s+\[([ xX])\](.*)$/.exec(line) ?? [];
      return mark === undefined
        ? []
        : [{ text: text.trim(), done: mark !== ' ', depth: Math.min(3, Math.floor(indent.length / 2)) }];
    })
    .slice(0, MOST_TASKS);
}
