import { attempt, orElse } from '../../base/errors.ts';
import { fromProject } from '../../base/files/paths.ts';
import { posix } from 'node:path';
import { findSection, headingIn, outline, withoutComments } from '../../base/text/markdown.ts';
import { t } from '../../base/text/message.ts';
import { oneLine, withoutEnd, placed } from '../../base/text/text.ts';
import { frontMatterOf } from './document.ts';
import type { Report, Story } from './found.ts';
import { ProjectFiles } from './places.ts';
import { readReport } from './report.ts';
import { type Evidence, type ItemKind, type State, type StoryStatus } from './rules.ts';
import { isDone, isLeftOpen, planEvidence } from './stories.ts';
import type { SpecFile, StoryFile } from './story-files.ts';
import { noSuchStory, storyNamed } from './story-status.ts';
import { type Work, worksOf } from './workers.ts';

/** A passage of a document of the project, and where it stands. */
export interface Passage {
  text: string;
  file: string;
  line: number;
}

/** What binds whoever builds a story, by exact names and places; nothing in it is a summary. */
interface StoryBrief {
  key: string;
  title: string;
  status: string;
  /** Its file, or the place that plans it. */
  place: string;
  /** What has to be fulfilled; not there where neither the file nor the plan says it. */
  criteria: Passage | undefined;
  /** Rules of its own, then those that it cites, then those that hold for the whole project. */
  rules: Passage[];
  /** Paths of code that it names. */
  files: string[];
}

const ACCEPTANCE = /acceptance|critères?/iu;
const OWN_RULES = /^(?:boundaries|constraints|technical constraints)/iu;

/** Of the story or the spec that is called by its exact number or key. */
export async function storyBrief(root: string, asked: string): Promise<StoryBrief> {
  const files = new ProjectFiles(root);
  const report = await readReport(root, files);
  const story =
    storyNamed(report, asked) ?? report.files.specs.filter(({ stem }) => stem === asked).map(ofSpec)[0];
  if (story === undefined) throw noSuchStory(report, asked);
  return briefOf(story, report, files);
}

/** Of the story or the spec that a text names by its number, its key or its file; nothing where it names none. */
export async function briefNamedIn(root: string, words: string): Promise<StoryBrief | undefined> {
  const files = new ProjectFiles(root);
  const report = await readReport(root, files);
  const story = storyIn(report.stories, words) ?? specIn(report, words);
  return story && briefOf(story, report, files);
}

/** What is known of a story, or of a spec that no story has. */
type Briefed = Pick<Story, 'id' | 'row' | 'planned' | 'status'> & {
  file: Pick<SpecFile, 'file' | 'word'> | undefined;
};

const ofSpec = (file: SpecFile): Briefed => ({
  id: file.stem,
  row: undefined,
  planned: undefined,
  status: file.status,
  file,
});

/** A spec is named by its file, or by the name of that; a document of the plan only by its path. */
function specIn({ files, artefacts }: Report, words: string): Briefed | undefined {
  const names = new Set(words.match(/[\p{L}\p{N}_-]+/gu));
  const spec = files.specs.find(({ file, stem }) => words.includes(file) || names.has(stem));
  if (spec !== undefined) return ofSpec(spec);
  const paths = artefacts.flatMap((each) => (each.kind === 'spec' ? each.files : []));
  const file = paths.find((path) => words.includes(path));
  const nothing = { row: undefined, planned: undefined, status: undefined };
  return file === undefined ? undefined : { id: file, ...nothing, file: { file, word: undefined } };
}

async function briefOf(story: Briefed, report: Report, files: ProjectFiles): Promise<StoryBrief> {
  const { file, planned } = story;
  const own = file === undefined ? undefined : await sourceAt(files, file.file);
  const plan = planned === undefined ? undefined : await plannedText(files, planned);
  const said = [own?.text, plan?.text].filter((text) => text !== undefined).join('\n');
  const rules = [
    ...(own === undefined ? [] : sectionsLike(own, OWN_RULES)),
    ...(await cited(files, report, said)),
    ...(await projectRules(files, report, own)),
  ];
  // What is part of another passage is told with that.
  const isToldBefore = (one: Passage, index: number): boolean =>
    rules.some(
      (other, place) =>
        other.file === one.file &&
        (other.line === one.line ? place < index : one.text !== '' && other.text.includes(one.text)),
    );
  return {
    key: story.row?.key ?? story.id,
    title: planned?.title ?? titleOf(own?.text) ?? '',
    status: story.row?.word ?? file?.word ?? story.status ?? t`no status`,
    place: own?.file ?? placed(planned ?? { file: report.sprint?.file ?? '', line: story.row?.line }),
    criteria: (own && criteriaIn(own)) ?? (plan && criteriaIn(plan)) ?? plan ?? (own && intentIn(own)),
    rules: rules.filter((one, index) => !isToldBefore(one, index)),
    files: pathsIn(own?.text ?? '', report),
  };
}

export interface Source {
  file: string;
  text: string;
  /** The number of its first line. */
  line: number;
}

export async function sourceAt(files: ProjectFiles, file: string): Promise<Source | undefined> {
  const read = await files.read(file);
  return read === undefined || 'trouble' in read ? undefined : { file, text: read.text, line: 1 };
}

/** What the plan says of a story: its section. */
export async function plannedText(
  files: ProjectFiles,
  { file, line }: { file: string; line: number },
): Promise<Passage | undefined> {
  const source = await sourceAt(files, file);
  const section = source && outline(source.text).find(({ start }) => lineAt(source.text, start) === line);
  return source === undefined || section === undefined
    ? undefined
    : passage(source, section.start, section.end);
}

const titleOf = (text: string | undefined): string | undefined =>
  text
    ?.split('\n')
    .flatMap((line) => headingIn(line.trimEnd()) ?? [])
    .find(({ level }) => level === 1)?.title;

/** The section of the criteria; or from a line that calls them by name to the end of its section. */
export function criteriaIn(source: Source): Passage | undefined {
  const sections = outline(source.text).filter(({ level }) => level > 1);
  const named = sections.find(({ title }) => ACCEPTANCE.test(title));
  const marked = /^[*_]{2}[^\r\n]*(?:acceptance|critères?)[^\r\n]*$/imu.exec(source.text);
  const inside =
    named !== undefined && marked !== null && marked.index > named.start && marked.index < named.end;
  if (named !== undefined && !inside) return passage(source, named.start, named.end, true);
  if (marked === null) return undefined;
  const end = sections.find(({ start }) => start > marked.index)?.start ?? source.text.length;
  return passage(source, marked.index, end, true);
}

/** A spec for one change may have no criteria: what it is for is what it is measured by. */
const intentIn = (source: Source): Passage | undefined => {
  const section = outline(source.text).find(({ title }) => /^intent$/i.test(title));
  return section && passage(source, section.start, section.end);
};

export function sectionsLike(source: Source, title: RegExp): Passage[] {
  return outline(source.text).flatMap((section) =>
    title.test(section.title) ? [passage(source, section.start, section.end, true)] : [],
  );
}

/** A part of a text without its comments; `bare` without the line that names it. */
function passage({ file, text, line }: Source, start: number, end: number, bare = false): Passage {
  const part = withoutComments(text.slice(start, end));
  const from = bare ? part.indexOf('\n') + 1 : 0;
  return {
    file,
    line: line + lineAt(text, start) - 1,
    text: part
      .slice(from)
      .replace(/\r/g, '')
      .replace(/\n{3,}/g, '\n\n')
      .trim(),
  };
}

const lineAt = (text: string, place: number): number => text.slice(0, place).split('\n').length;

const SOURCE = /\[Source:\s*([^\]\r\n]{1,300})\]/giu;
/** Identifiers that plans give to what binds: decisions of the architecture and requirements. */
const ID = /\b(?:AD|ADR|NFR)-?\d{1,4}\b/g;

/** The passages of the plans that a text cites, by section or by identifier. */
async function cited(files: ProjectFiles, report: Report, text: string): Promise<Passage[]> {
  const paths = report.artefacts.flatMap((artefact) => artefact.files);
  const found: Passage[] = [];
  for (const [, reference = ''] of text.matchAll(SOURCE))
    for (const each of reference.split(/[;,]\s+/)) {
      const [name = '', anchor = ''] = each.trim().split('#');
      const wanted = name.trim().replace(/^\.?\//, '');
      const path = paths.find((known) => known === wanted || known.endsWith(`/${wanted}`));
      const source = path === undefined ? undefined : await sourceAt(files, path);
      if (source === undefined) continue;
      const title = anchor.replaceAll('-', ' ').trim();
      const section =
        outline(source.text).find((one) => plain(one.title) === plain(title)) ??
        findSection(outline(source.text), title);
      found.push(
        section === undefined
          ? { file: source.file, line: 1, text: '' }
          : passage(source, section.start, section.end),
      );
    }
  const ids = new Set(text.match(ID) ?? []);
  for (const path of ids.size === 0 ? [] : paths) {
    const source = await sourceAt(files, path);
    if (source !== undefined) found.push(...[...ids].flatMap((id) => defined(source, id)));
  }
  return found;
}

const plain = (title: string): string => title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');

/** Where a document defines an identifier: a heading or an item of a list that begins with it. */
function defined(source: Source, id: string): Passage[] {
  const begins = (text: string): boolean => text.startsWith(id) && !/^[\w-]/.test(text.slice(id.length));
  const section = outline(source.text).find(({ title }) => begins(title));
  if (section !== undefined) return [passage(source, section.start, section.end)];
  const lines = source.text.split('\n');
  const line = lines.findIndex((each) => begins(each.replace(/^\s*(?:[-*]|\d+\.)\s+[*_`]*|^[*_`]+/, '')));
  return line === -1
    ? []
    : [{ file: source.file, line: line + 1, text: (lines[line] ?? '').replace(/^\s*[-*]\s+/, '').trim() }];
}

/** What is shorter is no rule. */
const LEAST_RULE = 7;

/** What holds for all work: the project context, and the files that a spec names as its context. */
async function projectRules(
  files: ProjectFiles,
  { locations }: Report,
  own: Source | undefined,
): Promise<Passage[]> {
  const head = own === undefined ? [] : attempt(() => frontMatterOf(own.file, own.text).pairs, orElse([]));
  const named = head.find(({ key }) => key === 'context')?.list.map((path) => fromProject(String(path)));
  const folders = ['', ...locations.planning, ...locations.implementation];
  const places = folders.map((folder) => posix.join(folder, 'project-context.md'));
  const rules: Passage[] = [];
  for (const path of new Set([...(named ?? []), ...places])) {
    const source = /\.md$/i.test(path) ? await sourceAt(files, path) : undefined;
    for (const [index, line] of (source?.text ?? '').split('\n').entries()) {
      const rule = /^[-*]\s/.test(line.trimStart()) ? line.trim().slice(1).trim() : '';
      if (source !== undefined && rule.length > LEAST_RULE && !rule.startsWith('['))
        rules.push({ file: source.file, line: index + 1, text: oneLine(rule, 300) });
    }
  }
  return rules;
}

const PATH = /`((?:[\w@.-]+\/)+[\w@.-]+|[\w@-]+\.[a-z][a-z0-9]{0,5})`/g;
const MOST_FILES = 20;

/** Paths that a text names as such, in the order of the text; documents of the plan are cited, not changed. */
function pathsIn(text: string, { artefacts }: Report): string[] {
  const plans = new Set(artefacts.flatMap((artefact) => artefact.files.map((file) => posix.basename(file))));
  const found = [...text.matchAll(PATH)].map(([, path = '']) => path);
  return [...new Set(found)].filter((path) => !plans.has(posix.basename(path))).slice(0, MOST_FILES);
}

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
    place: placed(place),
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
  return { says: word, ...(hasCriteria || plan === undefined ? {} : { criteria: placed(plan) }) };
}

/** `story 1.2`; or nothing but `1.2`, `1-2-login`, `docs/stories/1.2.login.md`, behind a command or not. */
const ASKED = [
  /\b(?:story|récit)\s{1,3}#?(\d{1,4}[.-]\d{1,4})(?!\d|\.\d)/iu,
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

const wordsIn = (text: string): Set<string> =>
  new Set((text.toLowerCase().match(/[\p{L}\p{N}.-]+/gu) ?? []).map((word) => withoutEnd(word, '.')));

/** Stories that a text is about beyond doubt: a bare `1.2` may be the number of anything. */
export function storiesIn(stories: readonly Story[], text: string): Story[] {
  const said = wordsIn(text);
  const numbers = [...text.matchAll(/\b(?:story|récit)\s{1,3}#?(\d{1,4})[.-](\d{1,4})(?!\d)/giu)];
  return stories.filter(
    ({ id, epic, story, file }) =>
      (!/^[\d.]+$/.test(id) && said.has(id.toLowerCase())) ||
      (file !== undefined && text.includes(file.file)) ||
      numbers.some(([, ofEpic, ofStory]) => Number(ofEpic) === epic && ofStory === story),
  );
}

/** `1.2.story.md`: the number is what counts, the file may not be there yet. */
const FILE = /^(\d{1,4})[.-](\d{1,4})[.-][\w-]{1,100}\.md$/;

/** The story that a call names, where a bare number is one: `1-2-login`, `1.2`, `story 1-2`, or the path of its file. */
function storyIn(stories: readonly Story[], text: string): Story | undefined {
  const said = new Set([...wordsIn(text)].map((word) => word.replace(FILE, '$1.$2')));
  return (
    storiesIn(stories, text)[0] ??
    stories.find(({ epic, story }) => said.has(`${epic}.${story}`) || said.has(`${epic}-${story}`))
  );
}

/** A document of the project that work is done by. */
export interface ProjectDocument {
  kind: ItemKind;
  /** From the top of the project. */
  path: string;
  /** How far it is, by the same judgement as everywhere. */
  state: State;
  text: string;
}

/** The documents that the worker reads, the ones nearest to the work first. */
const READ: readonly ItemKind[] = ['story', 'spec', 'prd', 'architecture', 'ux', 'epics', 'brief'];

/** The story that is worked on, then the plans, found by the rules that progress is judged by. */
export async function projectDocuments(
  root: string,
  workflow: string | undefined,
  words: string | undefined,
): Promise<ProjectDocument[]> {
  const files = new ProjectFiles(root);
  const report = await readReport(root, files);
  const works = workflow === undefined ? [] : worksOf(workflow);
  const named = storyInput(report, works, words);
  // Another story is not what was asked for.
  const isUnknown = unknownStory(report.stories, words) !== undefined;
  const story =
    named === undefined || named.isPlanned ? currentStory(report, isUnknown ? [] : works) : named.place;
  const judged = (kind: ItemKind, own: readonly string[], state: State): State =>
    report.items.find((item) => item.kind === kind && own.includes(item.evidence[0]?.file ?? ''))?.state ??
    state;
  const paths = [
    ...(story === undefined ? [] : [{ kind: 'story' as const, path: story, state: 'in progress' as State }]),
    ...report.artefacts.flatMap(({ kind, files: own, state }) =>
      own.map((path) => ({ kind, path, state: judged(kind, own, state) })),
    ),
  ];
  const documents: ProjectDocument[] = [];
  for (const { kind, path, state } of paths) {
    if (!READ.includes(kind) || documents.some((known) => known.path === path)) continue;
    const read = await files.read(path);
    if (read !== undefined && 'text' in read) documents.push({ kind, path, state, text: read.text });
  }
  const place = ({ kind }: ProjectDocument): number => READ.indexOf(kind);
  return documents.sort((a, b) => place(a) - place(b) || (a.path < b.path ? -1 : 1));
}

/** What the work takes by the ledger, else what is furthest and not done; of those the first in its order. */
function currentStory({ stories }: Report, works: readonly Work[]): string | undefined {
  const taken = TAKES.flatMap(([work, statuses]) => (works.includes(work) ? statuses : []));
  const order: readonly StoryStatus[] = [...taken, 'in-progress', 'review', 'ready-for-dev', 'drafted'];
  return order
    .flatMap((status) => stories.filter((story) => story.likely === status && !isDone(story)))
    .find(({ file }) => file !== undefined)?.file?.file;
}
