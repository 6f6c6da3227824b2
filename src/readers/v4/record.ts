import { basename } from 'node:path';
import { noted } from '../../base/errors.ts';
import { field, isTable, type Table } from '../../base/parse/parse.ts';
import { outline, withoutComments } from '../../base/text/markdown.ts';
import { t } from '../../base/text/message.ts';
import { decodeText, encodingOf, oneLine } from '../../base/text/text.ts';
import { sha256 } from '../../base/values.ts';
import type { BmadRecord, Problem, RecordDetails, RecordKind } from '../../model/record.ts';
import type { Source } from '../../sources/tree.ts';
import { detailsOf, recordOf } from '../reader.ts';
import { dependencyFile, readV4Agent, stemOf } from './agent.ts';
import { shelfOf } from './folder.ts';
import { onlyKeys, parseTable, pickValue, plainText, scalarField } from './yaml-text.ts';

export const GENERATION = 'v4';

/** One file of a BMAD folder, on disk or only in a manifest. */
export interface V4File {
  source: Source;
  moduleName: string;
  moduleVersion: string | undefined;
  bmadVersion: string | undefined;
  /** Its path in the tree and in its BMAD folder. */
  treePath: string;
  path: string;
  /** All files of its BMAD folder, by path in it. */
  beside: readonly string[];
  listed: boolean;
}

/** Longer files are documents; their descriptions are at the top. */
const DESCRIBED_BYTES = 200_000;
const SNIFFED_BYTES = 8_000;

export async function readRecord(place: V4File, problems: Problem[]): Promise<BmadRecord | undefined> {
  const kind = shelfOf(place.path)?.kind;
  if (kind === undefined) return undefined;
  const file = place.treePath;
  const bytes = await place.source.tree.read(file).catch(noted(problems, file, undefined));
  if (bytes === undefined) return undefined;
  if (encodingOf(bytes) === 'utf-8' && bytes.subarray(0, SNIFFED_BYTES).includes(0)) {
    problems.push({ file, message: t`This is not a text file.` });
    return undefined;
  }
  const text = decodeText(bytes.subarray(0, DESCRIBED_BYTES));
  const described = describe(kind, file, text);
  if (described.problem !== undefined) problems.push(described.problem);
  return describedRecord(place, described, { digest: sha256(bytes), likeness: likenessOf(place, bytes) });
}

/**
 * The installer copies what a pack uses of the core into the pack's folder, and writes that folder's name into most of the
 * places where the core's own was meant.
 */
function likenessOf({ source }: V4File, bytes: Uint8Array): string {
  const text = decodeText(bytes).replaceAll('\r\n', '\n');
  return sha256(text.replaceAll(basename(source.origin.root), '{root}').replaceAll('.bmad-core', '{root}'));
}

/** The record of a file that a manifest lists and that is gone. Only what can be started or adopted is missed. */
export function missingRecord(place: V4File): BmadRecord | undefined {
  const kind = shelfOf(place.path)?.kind;
  const missed = kind === 'agent' || kind === 'workflow' || kind === 'task';
  return missed ? describedRecord(place, { description: '' }, {}) : undefined;
}

function describedRecord(
  place: V4File,
  described: Description,
  { digest, likeness }: { digest?: string; likeness?: string },
): BmadRecord | undefined {
  const shelf = shelfOf(place.path);
  if (shelf === undefined) return undefined;
  const { source, moduleName, moduleVersion, bmadVersion, listed } = place;
  const name = stemOf(place.path);
  const displayName = described.displayName === name ? undefined : described.displayName || undefined;
  return recordOf(source, {
    kind: shelf.kind,
    format: shelf.format,
    listed,
    moduleName,
    moduleVersion,
    bmadVersion,
    name,
    displayName,
    title: described.title || undefined,
    icon: described.icon || undefined,
    description: described.description,
    bmadRelativePath: place.treePath,
    moduleRelativePath: place.path,
    generation: GENERATION,
    aliases: [displayName, described.title, described.id],
    uses: described.dependencies && usedFiles(place, described.dependencies),
    details: described.details,
    digest,
    likeness,
  });
}

/** The dependencies that exist; missing ones could not be served anyway. */
function usedFiles({ treePath, path, beside }: V4File, dependencies: Record<string, string[]>): string[] {
  const above = treePath.slice(0, treePath.length - path.length);
  const files = Object.entries(dependencies).flatMap(([type, names]) =>
    names.map((name) => dependencyFile(beside, type, name)),
  );
  const found = new Set(files.filter((file) => file !== undefined && file !== path));
  return [...found].map((file) => `${above}${file ?? ''}`).sort();
}

/** What a file says of itself, as far as a list or a search needs it. */
interface Description {
  id?: string | undefined;
  displayName?: string | undefined;
  title?: string | undefined;
  icon?: string | undefined;
  description: string;
  /** The files an agent needs, by folder, as it writes them. */
  dependencies?: Record<string, string[]> | undefined;
  details?: RecordDetails | undefined;
  problem?: Problem | undefined;
}

/** The top-level key under which each kind of YAML file describes itself; some are flat and do without it. */
const WRAPPERS = new Map<RecordKind, string>([
  ['workflow', 'workflow'],
  ['template', 'template'],
  ['team', 'bundle'],
]);
const KEYS = ['id', 'name', 'title', 'icon', 'description'];

const DESCRIPTION_LENGTH = 300;
/** Fewer words say less than the heading does: "None Listed". */
const SENTENCE_WORDS = 4;
/** Names, titles and first sentences are at the top of a document. */
const HEAD_LENGTH = 16_000;

export function describe(kind: RecordKind, file: string, text: string): Description {
  if (kind === 'agent') return describeAgent(file, text);
  const wrapper = WRAPPERS.get(kind);
  if (wrapper !== undefined && /\.ya?ml$/i.test(file)) return describeYaml(file, plainText(text), wrapper);
  if (/\.(?:md|markdown|txt)$/i.test(file)) return describeDocument(plainText(text.slice(0, HEAD_LENGTH)));
  return { description: '' };
}

function describeAgent(file: string, text: string): Description {
  const { agent, problem } = readV4Agent(file, text);
  return {
    id: agent.id,
    displayName: agent.name,
    title: agent.title,
    icon: agent.icon,
    description: agent.whenToUse || agent.title,
    dependencies: agent.dependencies,
    details: detailsOf((key) => field(agent.persona ?? {}, key)),
    problem,
  };
}

/** If the lines that matter say nothing, the whole file is parsed, if only to learn what is wrong with it. */
function describeYaml(file: string, text: string, wrapper: string): Description {
  const head = parseTable(file, onlyKeys(text, wrapper, KEYS));
  if (Object.keys(head.table).length > 0) return fromTable(head.table);
  const { table, problem } = parseTable(file, text);
  const wrapped = field(table, wrapper);
  if (problem === undefined && head.problem === undefined)
    return fromTable(isTable(wrapped) ? wrapped : table);
  const picked = Object.fromEntries(KEYS.map((key) => [key, pickValue(text, key)]));
  return { ...fromTable(picked), problem: problem ?? head.problem };
}

function fromTable(table: Table): Description {
  const displayName = scalarField(table, 'title') ?? scalarField(table, 'name');
  return {
    id: scalarField(table, 'id') ?? scalarField(table, 'name'),
    displayName,
    icon: scalarField(table, 'icon'),
    description: scalarField(table, 'description') ?? displayName ?? '',
  };
}

/** A Markdown document: what its lines of data say, else its heading and the first sentence of its introduction. */
function describeDocument(text: string): Description {
  const { data, body } = withoutData(text);
  const clean = withoutComments(body).replace(/\[\[LLM:[\s\S]*?(?:\]\]|$)/g, '');
  const sections = outline(clean).map((section) => ({ ...section, title: realTitle(section.title) }));
  const top = sections.findIndex(({ title }) => title !== '');
  const heading = sections[top]?.title;
  const next = sections[top + 1];
  const introduction = clean.slice(afterHeading(clean, sections[top]?.start), next?.start);
  const sentence =
    firstSentence(introduction) ??
    (next !== undefined && INTRODUCTORY.test(next.title)
      ? firstSentence(clean.slice(afterHeading(clean, next.start), sections[top + 2]?.start))
      : undefined);
  const displayName = pickValue(data, 'title') ?? pickValue(data, 'name') ?? heading;
  return {
    displayName,
    description: pickValue(data, 'description') ?? sentence ?? displayName ?? '',
  };
}

const INTRODUCTORY = /^(?:purpose|overview|introduction|description|goal|objective|summary|about)\b/i;

/**
 * The lines of data of a document and the text without them: front matter, or what was front matter before a formatter
 * took it for text, which is so in whole packs (`task:` alone on a line, its keys not indented below).
 */
function withoutData(text: string): { data: string; body: string } {
  const front = /^\s*---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/.exec(text);
  if (front !== null) return { data: front[1] ?? '', body: text.slice(front[0].length) };
  const lines = text.split('\n');
  const start = lines.findIndex((line) => /^(?:task|checklist|template|workflow):\s*$/.test(line));
  // Below other text it is an example, or one of several things that a file puts together.
  const onTop = lines.slice(0, start).every((line) => /^(?:$|#|---$|<!--)/.test(line.trimEnd()));
  if (start === -1 || !onTop) return { data: '', body: text };
  return { data: lines.slice(start).join('\n'), body: lines.slice(0, start).join('\n') };
}

/** A heading that names something: no rule drawn with dashes, no file name, no number in front. */
function realTitle(title: string): string {
  const name = title.replace(/^\d+\.\s+/, '');
  return /\p{L}/u.test(name) && !/^[\w./-]+\.(?:md|ya?ml)$/.test(name) ? name : '';
}

function afterHeading(text: string, start: number | undefined): number {
  if (start === undefined) return 0;
  const end = text.indexOf('\n', start);
  return end === -1 ? text.length : end;
}

/** The first sentence of the first paragraph or list item. Checkboxes, tables, code and keys are not sentences. */
function firstSentence(text: string): string | undefined {
  const paragraphs = text.split(/\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.)\s)/);
  const first = paragraphs.map((paragraph) => paragraph.trim()).find((paragraph) => paragraph !== '');
  if (first === undefined || /^(?:[-*+] \[|[|`~{<[\]-]{2,}|[\w-]+: |---)/.test(first)) return undefined;
  const plain = first.replace(/^(?:[-*+]|\d+\.|>)\s+/, '').replaceAll(/[*`]/g, '');
  const line = oneLine(plain.replace(/^Purpose:\s*/i, ''), DESCRIPTION_LENGTH);
  const sentence = /^.*?(?<!\b(?:e\.g|i\.e|vs))[.!?](?=\s+\p{Lu}|$)/u.exec(line)?.[0] ?? line;
  return sentence.split(' ').length < SENTENCE_WORDS ? undefined : sentence;
}
