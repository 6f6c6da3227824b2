import { type YamlPair, yamlPairs } from '../../base/parse/yaml-document.ts';
import { attempt, broken, quoted } from '../../base/errors.ts';
import { fenceFollower, headingIn, withoutComments } from '../../base/text/markdown.ts';
import { plural, t } from '../../base/text/message.ts';
import { oneLine, withoutEnd } from '../../base/text/text.ts';
import { documentState, type Evidence, type ItemKind, type State, TITLES_ALONE } from './rules.ts';

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

/** Less than this is a heading and good intentions. */
const FEW_CHARACTERS = 120;

/** Decides how far a document is by what is in it; a file that merely exists proves nothing. */
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
  const { characters, placeholder, firstLine, prompt, empty } = bodyOf(text, head.endLine);
  const declared = declaredState(head, text);
  const steps = stepsOf(kind, head);
  const few = characters < FEW_CHARACTERS;
  const counts = characters > 0 && (!few || declared?.state !== undefined);
  if (declared !== undefined && counts && (declared.state !== 'complete' || placeholder === undefined)) {
    const { state = 'unknown', word, line } = declared;
    return judged(state, t`status ${word}`, line, word);
  }
  if (few) {
    const planned = plannedIn(file, text).stories.length;
    const begun = (steps?.done ?? 0) > 0 || declared !== undefined || planned > 0;
    const short =
      planned > 0 ? t`${plural(planned, 'story', 'stories')} and hardly any text` : t`it has hardly any text`;
    const open = placeholder ?? prompt;
    const says = open === undefined ? short : t`the template has not been filled in`;
    return judged(begun ? 'in progress' : 'not started', says, open?.line);
  }
  if (placeholder !== undefined)
    return judged('in progress', t`${placeholder.text} has not been filled in`, placeholder.line);
  // Who says nothing about the state of a document is asked by the document itself.
  if (steps === undefined && prompt !== undefined)
    return judged('in progress', t`${prompt.text} has not been filled in`, prompt.line);
  if (steps === undefined && empty !== undefined && kind !== 'epics')
    return judged('in progress', t`${empty.text} has no text`, empty.line);
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

const STATUS_LINE = /^\s*(?:[-*>]\s+)?[*_]{0,3}(?:status|statut|état)[*_]{0,3}\s*:[*_]{0,3}(.*)/isu;
/** A line that is longer says something else. */
const STATUS_LENGTH = 300;

/** The word of a line like `Status: done` or `**Statut :** terminé`. */
export function statusIn(line: string): string | undefined {
  return line.length > STATUS_LENGTH ? undefined : STATUS_LINE.exec(line)?.[1]?.trim() || undefined;
}

const HEAD_LINES = 40;

export interface Stated {
  word: string;
  line: number;
}

/** The status in the front matter. */
export function statedAbove({ pairs }: FrontMatter): Stated | undefined {
  const pair = pairs.find(({ key }) => key === 'status' || key === 'statut');
  return typeof pair?.value === 'string' ? { word: pair.value, line: pair.line } : undefined;
}

function declaredState(
  head: FrontMatter,
  text: string,
): (Stated & { state: 'complete' | 'in progress' | undefined }) | undefined {
  const above = statedAbove(head);
  if (above !== undefined) return { ...above, state: documentState(above.word) };
  const { endLine } = head;
  const lines = text.split(/\r?\n/, endLine + HEAD_LINES);
  for (const [index, line] of lines.entries()) {
    const said = index < endLine ? undefined : statusIn(line);
    const state = said === undefined ? undefined : documentState(said);
    // Plain text may have a line like that about anything; only a word that is known counts.
    if (said !== undefined && state !== undefined) return { word: said, line: index + 1, state };
  }
  return undefined;
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
  /** Letters and digits of real text. */
  characters: number;
  placeholder: Place | undefined;
  /** A line that is nothing but what a template asks for: `[Who they are, what they need]`, `- {One sentence.}`. */
  prompt: Place | undefined;
  /** A section without anything in it. The title has none, and a document may end with a heading. */
  empty: Place | undefined;
  /** The first line with real text. */
  firstLine: number | undefined;
}

const PLACEHOLDER = /\{\{\s*[A-Za-z][\w .-]{0,60}\}\}/;

/** A line of a list, or behind a label, that is all in brackets or braces. */
const BRACKETED =
  /^(?:[-*>] )?(?:\*\*[^*]{1,60}\*\*:?|[A-Z][\w ]{0,40}:)? ?(?:\{([A-Za-z][^{}]*)\}|\[(\w[^[\]]*)\])$/;
/** A longer line says something. */
const PROMPT_LENGTH = 600;
const SHOWN = 60;

/** What a template asks for takes a few words. Code, parameters, JSON, sources and remarks such as `[ASSUMPTION: …]` are none. */
function isPrompt(line: string): boolean {
  if (line.length > PROMPT_LENGTH || /^(?: {4}|\t)/.test(line)) return false;
  const [, braced, bracketed] = BRACKETED.exec(line.trim()) ?? [];
  const words = braced ?? bracketed ?? '';
  const isLabelled = /^(?:[A-Z]{3,}\b|\p{L}+(?: \d+)? ?:)/u.test(words) || words.includes('":');
  // `{name, price, stock}`
  const isList = words.split(/,\s*/).every((part) => !/\s/.test(part));
  return !isLabelled && !isList && words.split(/\s+/).length >= 3;
}

/**
 * Whether a heading needs no text below it: a list of epics and stories may be no more than their names, and a heading like
 * `Repository Structure: Monorepo` says it all, unless the choice still stands there.
 */
function isFilled(title: string): boolean {
  const plain = title.replace(/^[\d.]+\s+/, '');
  return (
    /^(?:epic|story|épopée)\b/i.test(plain) ||
    /^[^:]+:[ \t]*[^\s{[]/.test(plain) ||
    TITLES_ALONE.some((each) => each.toLowerCase() === plain.trim().toLowerCase())
  );
}

/** What is written, without headings, comments and what a template brings along; code is text but has no placeholders. */
export function bodyOf(text: string, skip: number, until?: RegExp): Body {
  const body: Body = {
    characters: 0,
    placeholder: undefined,
    firstLine: undefined,
    prompt: undefined,
    empty: undefined,
  };
  const isFenced = fenceFollower();
  /** The heading that nothing has followed yet. */
  let bare: { level: number; place: Place } | undefined;
  // Comments hold the instructions of templates.
  const lines = withoutComments(text).split('\n');
  for (let index = skip; index < lines.length; index++) {
    const line = lines[index] ?? '';
    if (until?.test(line) === true) break;
    const fenced = isFenced(line.trimStart());
    const found = fenced ? null : PLACEHOLDER.exec(line.replace(/`[^`]*`/g, ''));
    if (found !== null) {
      body.placeholder ??= { text: found[0], line: index + 1 };
      bare = undefined;
      continue;
    }
    if (!fenced && isPrompt(line)) {
      body.prompt ??= { text: oneLine(line, SHOWN), line: index + 1 };
      bare = undefined;
      continue;
    }
    const heading = fenced ? undefined : headingIn(line);
    if (heading !== undefined) {
      if (bare !== undefined && heading.level <= bare.level) body.empty ??= bare.place;
      bare =
        heading.level === 1 || isFilled(heading.title)
          ? undefined
          : { level: heading.level, place: { text: quoted(heading.title), line: index + 1 } };
    }
    // No heading: a tag.
    if (/^#\w/.test(line)) bare = undefined;
    if (/^\s*(?:#|_This document|---)/.test(line) || /^[\s|:-]*$/.test(line)) continue;
    const letters = line.replace(/[^\p{L}\p{N}]/gu, '').length;
    if (letters > 0) body.firstLine ??= index + 1;
    if (line.trim() !== '') bare = undefined;
    body.characters += letters;
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
