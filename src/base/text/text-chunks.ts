import { outline } from './markdown.ts';
import { estimateTokens } from './token-estimate.ts';

/** A part of a text that stands for itself; all parts together are the text. */
export interface Chunk {
  /** Its heading, or what the step is for; nothing for what comes before the first. */
  title: string | undefined;
  /** 1 to 6 for a heading, 0 for a step in tags. */
  level: number;
  isStep: boolean;
  text: string;
}

const STEP_TAG = /^[ \t]*<step\b[^\n>]*/gm;
const STEP_HEADING = /^(?:step|phase|stage|étape)\s*\d/i;
const DEEPEST = 3;

/** The sections of a text: at its headings, and at the steps of instructions in tags. */
export function chunksOf(text: string): Chunk[] {
  const marks = new Map<number, Omit<Chunk, 'text'>>();
  for (const { title, level, start } of outline(text))
    if (level <= DEEPEST) marks.set(start, { title, level, isStep: STEP_HEADING.test(title) });
  for (const match of text.matchAll(STEP_TAG))
    marks.set(match.index, { title: stepTitle(match[0]), level: 0, isStep: true });
  const places = [...marks].sort(([a], [b]) => a - b);
  const [first] = places;
  const before = text.slice(0, first?.[0] ?? text.length);
  return [
    ...(before === '' ? [] : [{ title: undefined, level: 0, isStep: false, text: before }]),
    ...places.map(([start, mark], index) => ({
      ...mark,
      text: text.slice(start, places[index + 1]?.[0] ?? text.length),
    })),
  ];
}

function stepTitle(tag: string): string {
  const number = /\bn="([^"]{1,20})"/.exec(tag)?.[1];
  const goal = /\b(?:goal|title)="([^"]{1,120})"/.exec(tag)?.[1];
  return [`step ${number ?? ''}`.trim(), goal].filter(Boolean).join(': ');
}

/**
 * How much of a text is needed to start with it: all of a short one; otherwise everything up to and including the first
 * step; if there are no steps, as many of the first sections as fit.
 */
export function essentialLength(text: string, maxTokens: number): number {
  if (estimateTokens(text) <= maxTokens) return text.length;
  const chunks = chunksOf(text);
  const lengthOf = (count: number): number =>
    chunks.slice(0, count).reduce((sum, chunk) => sum + chunk.text.length, 0);
  const step = chunks.findIndex(({ isStep }) => isStep);
  if (step >= 0) {
    const level = chunks[step]?.level ?? 0;
    const after = chunks.findIndex(
      (chunk, index) => index > step && (chunk.isStep || (level > 0 && chunk.level <= level)),
    );
    return lengthOf(after < 0 ? chunks.length : after);
  }
  let fitting = 1;
  let used = estimateTokens(chunks[0]?.text ?? '');
  for (const { text: next } of chunks.slice(1)) {
    used += estimateTokens(next);
    if (used > maxTokens) break;
    fitting += 1;
  }
  return lengthOf(fitting);
}
