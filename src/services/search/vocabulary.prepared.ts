import { analysedLines } from './vocabulary-lines.ts';

/** Worked out when the programs are built: to take hundreds of phrases apart would hold up the first search. */
export const PHRASES = analysedLines();
