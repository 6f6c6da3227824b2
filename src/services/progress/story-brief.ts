import { t } from '../../base/text/message.ts';
import { posix } from 'node:path';
import { attempt, orElse } from '../../base/expected.ts';
import { headingIn, findSection, outline, withoutComments } from '../../base/text/markdown.ts';
import { oneLine } from '../../base/text/text.ts';
import { frontMatterOf } from './document.ts';
import { at } from './model.ts';
import { ProjectFiles } from './project-files.ts';
import { readReport, type Report } from './report.ts';
import type { Story } from './stories.ts';
import type { SpecFile } from './story-files.ts';
import { storyIn } from './story-inputs.ts';
import { storyNamed, unknownStory } from './story-target.ts';

/** A passage of a document of the project, and where it stands. */
interface Passage {
  text: string;
  file: string;
  line: number;
}

/** What binds whoever builds a story, by exact names and places; nothing in it is a summary. */
export interface StoryBrief {
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
const OWN_RULES = /^(?:boundaries|constraints|technical constraints|limites)/iu;

/** Of the story or the spec that is called by its exact number or key. */
export async function storyBrief(root: string, asked: string): Promise<StoryBrief> {
  const files = new ProjectFiles(root);
  const report = await readReport(root, files);
  const story =
    storyNamed(report, asked) ?? report.files.specs.filter(({ stem }) => stem === asked).map(ofSpec)[0];
  if (story === undefined) throw unknownStory(report, asked);
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
    place: own?.file ?? at(planned ?? { file: report.sprint?.file ?? '', line: story.row?.line }),
    criteria: (own && criteriaIn(own)) ?? (plan && criteriaIn(plan)) ?? plan ?? (own && intentIn(own)),
    rules: rules.filter((one, index) => !isToldBefore(one, index)),
    files: pathsIn(own?.text ?? '', report),
  };
}

interface Source {
  file: string;
  text: string;
  /** The number of its first line. */
  line: number;
}

async function sourceAt(files: ProjectFiles, file: string): Promise<Source | undefined> {
  const read = await files.read(file);
  return read === undefined || 'trouble' in read ? undefined : { file, text: read.text, line: 1 };
}

/** What the plan says of a story: its section. */
async function plannedText(
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
function criteriaIn(source: Source): Passage | undefined {
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

function sectionsLike(source: Source, title: RegExp): Passage[] {
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
  const named = head
    .find(({ key }) => key === 'context')
    ?.list.map((path) => String(path).replace(/^\{project-root\}\//, ''));
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
