import { posix } from 'node:path';
import { attempt, broken } from '../../base/errors.ts';
import { headingIn } from '../../base/text/markdown.ts';
import { t } from '../../base/text/message.ts';
import {
  bodyOf,
  type FrontMatter,
  frontMatterOf,
  judgeDocument,
  type Stated,
  statedAbove,
  statusIn,
} from './document.ts';
import { type Gate, readGates } from './ledgers.ts';
import { type Locations, type ProjectFiles, unique } from './places.ts';
import { storyStatus, type StoryStatus } from './rules.ts';

/** What a review has written into the file of a story. */
interface ReviewNotes {
  line: number;
  /** Findings that nobody has ticked off. */
  open: number;
}

interface StoryFacts {
  word: string | undefined;
  status: StoryStatus | undefined;
  /** Its status stands in front matter, as in the specs that BMAD builds from; a story has a line for it. */
  isSpec: boolean;
  review: ReviewNotes | undefined;
  /** Whether it says what has to be accepted; a spec that was built in a single step does not. */
  hasCriteria: boolean;
  /** The commit it was begun at, as builds note it. */
  baseline: string | undefined;
  /** The way that its build takes, where one is chosen: `oneshot`. */
  route: string | undefined;
  line: number | undefined;
  tasks: { done: number; total: number };
  /** A part of the template that nobody has filled in. */
  placeholder: { text: string; line: number } | undefined;
  trouble: string | undefined;
}

export interface SpecFile extends StoryFacts {
  file: string;
  /** The name without folder and extension, which is the key of its row in the ledger. */
  stem: string;
}

export interface StoryFile extends SpecFile {
  epic: number;
  story: string;
  /** Version 4 numbers with dots and has its status in a section of its own. */
  v4: boolean;
}

export interface StoryFiles {
  stories: StoryFile[];
  /** Specs of quick work that belong to no story. */
  specs: SpecFile[];
  retrospectives: {
    file: string;
    epic: number;
    written: boolean;
    /** The line that says that the epic was rejected. */
    rejected?: number;
  }[];
  gates: Map<string, Gate>;
  /** Contexts of epics, which the early alphas ask for. */
  epicContexts: number[];
}

const V6_NAME = /^(?:spec-)?(\d{1,6})-(\d{1,6})([a-z]?)-.+$/u;
const V4_NAME = /^(?:story-)?(\d{1,6})\.(\d{1,6})(?:[.-].*)?$/;
const TITLE = /\b(?:story|récit)\s*(?::\s*)?\d+[.-]\d/iu;
const STATUS_TITLE = /^[*_]*(?:status|statut)[*_]*\s*:?$/iu;

/** The story files of a project, with what each says about itself. */
export async function findStoryFiles(files: ProjectFiles, locations: Locations): Promise<StoryFiles> {
  const found: StoryFiles = {
    stories: [],
    specs: [],
    retrospectives: [],
    gates: new Map(),
    epicContexts: [],
  };
  const paths: string[] = [];
  for (const folder of unique([...locations.stories, ...locations.implementation]))
    paths.push(...(await files.below(folder, 1)));
  for (const file of unique(paths)) {
    const name = posix.basename(file);
    const retro = /^epic-(\d{1,6})-retro.*\.md$/i.exec(name);
    const context = /^tech-spec-epic-(\d{1,6})\b.*\.md$/i.exec(name);
    if (retro !== null) {
      const read = await files.read(file);
      const text = read !== undefined && 'text' in read ? read.text : undefined;
      const rejected = text === undefined ? undefined : rejectedAt(file, text);
      found.retrospectives.push({
        file,
        epic: Number(retro[1]),
        written: text !== undefined && isHeld(file, text),
        ...(rejected === undefined ? {} : { rejected }),
      });
    } else if (context !== null) found.epicContexts.push(Number(context[1]));
    else if (/\.md$/i.test(name)) await takeStory(files, file, found);
  }
  found.stories = chosen(found.stories).sort((a, b) => a.epic - b.epic || natural(a.story, b.story));
  const fileOf = (key: string): string | undefined =>
    found.stories.find(({ v4, epic, story }) => v4 && `${epic}.${story}` === key)?.file;
  for (const folder of locations.gates)
    for (const [key, gate] of await readGates(files, folder, fileOf)) found.gates.set(key, gate);
  found.specs.sort((a, b) => (a.file < b.file ? -1 : 1));
  return found;
}

/** Newer versions begin with the bare document and end with a verdict in its front matter; older ones have none. */
function isHeld(file: string, text: string): boolean {
  if (judgeDocument('retrospective', file, text).state !== 'complete') return false;
  const verdict = frontMatterOf(file, text).pairs.find(({ key }) => key === 'verdict');
  return verdict === undefined || (typeof verdict.value === 'string' && !/^\s*$|\|/.test(verdict.value));
}

/** That a retrospective was held does not mean that its epic has passed. */
function rejectedAt(file: string, text: string): number | undefined {
  const verdict = frontMatterOf(file, text).pairs.find(({ key }) => key === 'verdict');
  return verdict !== undefined && typeof verdict.value === 'string' && /^\s*rejected\s*$/i.test(verdict.value)
    ? verdict.line
    : undefined;
}

async function takeStory(files: ProjectFiles, file: string, found: StoryFiles): Promise<void> {
  const stem = posix.basename(file).replace(/\.md$/i, '');
  const numbered = V6_NAME.exec(stem) ?? V4_NAME.exec(stem);
  const isSpec = /^(?:spec|tech-spec)-/.test(stem);
  if (numbered === null && !isSpec) return;
  const read = await files.read(file);
  if (read === undefined) return;
  const trouble = 'trouble' in read ? read.trouble.message : t`the file is empty`;
  const { named, ...facts } =
    'text' in read && read.text.trim() !== ''
      ? saidBy(file, read.text)
      : { ...NOTHING, trouble, named: numbered !== null };
  // Reviews and notes are named after their story too; a story has a status or its title.
  if (!named && facts.word === undefined) return;
  if (numbered === null) {
    found.specs.push({ file, stem, ...facts });
    return;
  }
  const v4 = !V6_NAME.test(stem);
  found.stories.push({
    file,
    stem: stem.replace(/^spec-/, ''),
    epic: Number(numbered[1]),
    story: `${Number(numbered[2])}${v4 ? '' : (numbered[3] ?? '')}`,
    v4,
    ...facts,
  });
}

const NOTHING: StoryFacts = {
  word: undefined,
  status: undefined,
  isSpec: false,
  review: undefined,
  hasCriteria: false,
  baseline: undefined,
  route: undefined,
  line: undefined,
  tasks: { done: 0, total: 0 },
  placeholder: undefined,
  trouble: undefined,
};

function saidBy(file: string, text: string): StoryFacts & { named: boolean } {
  let trouble: string | undefined;
  const head = attempt(
    () => frontMatterOf(file, text),
    broken(({ line }) => {
      trouble = t`its front matter cannot be parsed${line === undefined ? '' : t` (line ${line})`}`;
      return { pairs: [], endLine: 0, shift: 0 };
    }),
  );
  const lines = text.split(/\r?\n/);
  const above = statedAbove(head);
  const stated = above ?? statedIn(lines, head.endLine);
  return {
    word: stated?.word,
    status: stated === undefined ? undefined : storyStatus(stated.word),
    isSpec: above !== undefined,
    review: reviewIn(lines),
    hasCriteria: /\bacceptance\b/i.test(text),
    baseline: baselineIn(head),
    route: routeIn(head),
    line: stated?.line,
    tasks: tasksIn(lines),
    // The record of the developer is filled in while the story is built.
    placeholder: bodyOf(text, head.endLine, /^##\s+(?:Dev Agent Record|Agent Model)/i).placeholder,
    trouble,
    named: lines.slice(0, 60).some((line) => headingIn(line)?.level === 1 && TITLE.test(line)),
  };
}

/** A commit, and nothing that only stands in its place, such as `NO_VCS`. */
function baselineIn({ pairs }: FrontMatter): string | undefined {
  const value = pairs.find(({ key }) => key === 'baseline_commit')?.value;
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return /^[\da-f]{7,64}$/i.test(text) ? text : undefined;
}

function routeIn({ pairs }: FrontMatter): string | undefined {
  const value = pairs.find(({ key }) => key === 'route')?.value;
  return typeof value === 'string' && /^[a-z][\w-]{0,40}$/i.test(value) ? value : undefined;
}

/** A status line before the first section, or the first line of a section called so. */
function statedIn(lines: readonly string[], from: number): Stated | undefined {
  for (let index = from; index < lines.length; index++) {
    const line = lines[index] ?? '';
    const heading = headingIn(line);
    if (heading === undefined || heading.level === 1 || heading.level > 3) {
      const word = statusIn(line);
      if (word !== undefined) return { word, line: index + 1 };
      continue;
    }
    if (STATUS_TITLE.test(heading.title)) return sectionWord(lines, index);
    // Version 4 has its section on top, but people move it; what comes in later sections is about other things.
    const later = lines.findIndex(
      (other, at) =>
        at > index && headingIn(other)?.level === 2 && STATUS_TITLE.test(headingIn(other)?.title ?? ''),
    );
    return later === -1 ? undefined : sectionWord(lines, later);
  }
  return undefined;
}

function sectionWord(lines: readonly string[], heading: number): Stated | undefined {
  for (let index = heading + 1; index < lines.length; index++) {
    const line = (lines[index] ?? '').trim();
    if (line.startsWith('#')) return undefined;
    if (line !== '' && !line.startsWith('<!--')) return { word: statusIn(line) ?? line, line: index + 1 };
  }
  return undefined;
}

const REVIEW_TITLE = /^(?:senior developer review|review findings|review follow-ups|qa results)\b/i;

function tasksIn(lines: readonly string[]): StoryFacts['tasks'] {
  let inside = false;
  let findings: number | undefined;
  const marks = lines.flatMap((line) => {
    const heading = headingIn(line);
    if (heading?.level === 2) inside = /^(?:tasks|tâches)/iu.test(heading.title);
    // Reviews put what they find among the tasks, and that is nothing that was planned.
    if (heading !== undefined && heading.level <= (findings ?? heading.level)) findings = undefined;
    if (heading !== undefined && REVIEW_TITLE.test(heading.title)) findings = heading.level;
    return (inside && findings === undefined ? /^\s*[-*]\s+\[([ xX])\]/.exec(line)?.[1] : undefined) ?? [];
  });
  return { done: marks.filter((mark) => mark !== ' ').length, total: marks.length };
}

/** The section in which a review of any version leaves its findings; a bare heading is only the template's. */
function reviewIn(lines: readonly string[]): ReviewNotes | undefined {
  let inside: number | undefined;
  let found: ReviewNotes | undefined;
  for (const [index, line] of lines.entries()) {
    const heading = headingIn(line);
    if (heading !== undefined && REVIEW_TITLE.test(heading.title)) inside = heading.level;
    else if (heading !== undefined && inside !== undefined && heading.level <= inside) inside = undefined;
    else if (inside !== undefined && isWritten(line)) {
      found ??= { line: index + 1, open: 0 };
      if (/^\s*[-*]\s+\[ \]/.test(line)) found.open += 1;
    }
  }
  return found;
}

function isWritten(line: string): boolean {
  return /[\p{L}\p{N}]/u.test(line) && !/^\s*(?:#|<!--|\{\{|[*_]*Results from QA Agent)/.test(line);
}

/** One file a story: that of BMAD's own name rather than a copy, one with a status rather than one without. */
function chosen(stories: readonly StoryFile[]): StoryFile[] {
  const best = new Map<string, StoryFile>();
  for (const story of stories) {
    const key = `${story.epic}.${story.story}${story.v4 ? ' v4' : ''}`;
    const known = best.get(key);
    if (known === undefined || (known.status === undefined && story.status !== undefined))
      best.set(key, story);
  }
  return [...best.values()];
}

/** `2` before `10`, `2` before `2a`. */
export function natural(a: string, b: string): number {
  return Number.parseInt(a, 10) - Number.parseInt(b, 10) || (a < b ? -1 : a > b ? 1 : 0);
}
