import { type YamlPair, yamlPairs } from '../../base/parse/yaml-document.ts';
import { attempt, broken } from '../../base/errors.ts';
import { fenceFollower, withoutComments } from '../../base/text/markdown.ts';
import { t } from '../../base/text/message.ts';
import { withoutEnd } from '../../base/text/text.ts';
import { documentState, type Evidence, type ItemKind, type State } from './rules.ts';

/** What a document says about itself. */
export interface Judgement {
  state: State;
  status?: string | undefined;
  /** Steps of its workflow that are still to come, where it counts them. */
  stepsLeft?: number | undefined;
  /** The first of them. */
  nextStep?: number | undefined;
  /** It is complete by nothing but its text. */
  plain?: true;
  evidence: Evidence;
}

/**
 * The step after which a document is complete, by BMAD's own step files: the last that marks itself in the document. What
 * follows it says goodbye. For epics it is the last of all, which checks them, though it leaves no mark.
 */
export const LAST_STEP: Partial<Record<ItemKind, number>> = {
  research: 5,
  brief: 5,
  prd: 11,
  ux: 14,
  architecture: 8,
  epics: 4,
  readiness: 6,
  spec: 4,
};

/** Decides how far a document is by what it says of itself; a file that merely exists proves nothing. */
export function judgeDocument(kind: ItemKind, file: string, text: string): Judgement {
  const judged = (state: State, says: string, line?: number, status?: string): Judgement => ({
    state,
    status,
    evidence: { file, line, says },
  });
  if (text.trim() === '') return judged('not started', t`the file is empty`);
  const head = attempt(
    () => frontMatterOf(file, text),
    broken(({ place }) => place),
  );
  if (!('pairs' in head)) return judged('unknown', t`its front matter cannot be parsed`, head.line);
  const { placeholder, firstLine } = bodyOf(text, head.endLine);
  const declared = statedAbove(head);
  const steps = stepsOf(kind, head);
  const state = declared && documentState(declared.word);
  const isWritten = firstLine !== undefined && placeholder === undefined;
  if (declared !== undefined && firstLine !== undefined && (state !== 'complete' || isWritten))
    return judged(state ?? 'unknown', t`status ${declared.word}`, declared.line, declared.word);
  if (!isWritten) {
    const isBegun =
      declared !== undefined || (steps === undefined ? firstLine !== undefined : steps.done > 0);
    const says =
      placeholder === undefined ? t`it has no text` : t`${placeholder.text} has not been filled in`;
    return judged(isBegun ? 'in progress' : 'not started', says, placeholder?.line);
  }
  if (steps === undefined) return { ...judged('complete', t`it has content`, firstLine), plain: true };
  const { done, total, complete, line } = steps;
  if (complete) return judged('complete', t`all steps are done`, line);
  // Not all steps of a workflow mark its document: a run counts more of them.
  const says = t`it is marked up to step ${done}, and complete with step ${total}`;
  const far = judged(done > 0 ? 'in progress' : 'not started', says, line);
  return { ...far, stepsLeft: total - done, nextStep: done + 1 };
}

export interface FrontMatter {
  pairs: YamlPair[];
  /** The line of its closing mark; 0 when there is none. */
  endLine: number;
  /** What has to be added to the places of its pairs to have those of the text. */
  shift: number;
}

/** The front matter of a document with the lines of the file; throws when it is no YAML. */
export function frontMatterOf(file: string, text: string): FrontMatter {
  const clean = text.replace(/^\uFEFF/, '');
  const found = /^---[ \t]*\r?\n([\s\S]*?\r?\n)??---[ \t]*(?:\r?\n|$)/.exec(clean);
  if (found === null) return { pairs: [], endLine: 0, shift: 0 };
  const inner = found[1] ?? '';
  const shift = text.length - clean.length + clean.indexOf('\n');
  return { pairs: yamlPairs(file, `\n${inner}`) ?? [], endLine: inner.split('\n').length + 1, shift };
}

const STATUS_LINE = /^\s*(?:[-*>]\s+)?[*_]{0,3}(?:status|statut)[*_]{0,3}\s*:[*_]{0,3}(.*)/isu;
/** A line that is longer says something else. */
const STATUS_LENGTH = 300;

/** The word of a line like `Status: done` or `**Status:** done`. */
export function statusIn(line: string): string | undefined {
  return line.length > STATUS_LENGTH ? undefined : STATUS_LINE.exec(line)?.[1]?.trim() || undefined;
}

export interface Stated {
  word: string;
  line: number;
}

/** The status in the front matter. */
export function statedAbove({ pairs }: FrontMatter): Stated | undefined {
  const pair = pairs.find(({ key }) => key === 'status');
  return typeof pair?.value === 'string' ? { word: pair.value, line: pair.line } : undefined;
}

function stepsOf(
  kind: ItemKind,
  { pairs }: FrontMatter,
): { done: number; total: number; complete: boolean; line: number } | undefined {
  const pair = pairs.find(({ key }) => key === 'stepsCompleted');
  if (pair === undefined) return undefined;
  const last = pairs.find(({ key }) => key === 'lastStep')?.value;
  const steps = [...pair.list, ...(typeof last === 'number' ? [last] : [])];
  const numbers = steps.map((step) => Number(/\d+/.exec(String(step))?.[0] ?? 0));
  const done = Math.max(0, ...numbers);
  const total = LAST_STEP[kind] ?? done;
  const closed = steps.some((step) => /complete|final/i.test(String(step)));
  return {
    done,
    total: Math.max(done, total),
    complete: closed || (done > 0 && done >= total),
    line: pair.line,
  };
}

interface Place {
  text: string;
  line: number;
}

interface Body {
  placeholder: Place | undefined;
  /** The first line with real text. */
  firstLine: number | undefined;
}

/** What BMAD's templates have where something is to be written. */
const PLACEHOLDER = /\{\{\s*[A-Za-z][\w .-]{0,60}\}\}/;

/** What is written, without headings, comments and what a template brings along; code is text but has no placeholders. */
export function bodyOf(text: string, skip: number, until?: RegExp): Body {
  const body: Body = { placeholder: undefined, firstLine: undefined };
  const isFenced = fenceFollower();
  // Comments hold the instructions of templates.
  const lines = withoutComments(text).split('\n');
  for (let index = skip; index < lines.length; index++) {
    const line = lines[index] ?? '';
    if (until?.test(line) === true) break;
    const fenced = isFenced(line.trimStart());
    const found = fenced ? null : PLACEHOLDER.exec(line.replace(/`[^`]*`/g, ''));
    if (found !== null) body.placeholder ??= { text: found[0], line: index + 1 };
    else if (!/^\s*(?:#|_This document|---)/.test(line) && /[\p{L}\p{N}]/u.test(line))
      body.firstLine ??= index + 1;
  }
  return body;
}

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
    const [whole = '', epic, story = ''] = STORY.exec(line) ?? EPIC.exec(line) ?? [];
    if (epic === undefined) continue;
    const title = withoutEnd(line.slice(whole.length).trim().replace(/^:\s*/, ''), '#').trim();
    const list = story === '' ? plan.epics : plan.stories;
    list.push({ epic: Number(epic), story: story.toLowerCase(), title, file, line: index + 1 });
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
