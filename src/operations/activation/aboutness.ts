import type { Chunk } from '../../base/text/text-chunks.ts';

export type Aboutness = (chunk: Chunk) => number;

const LEAST_LETTERS = 4;
const IN_TITLE = 3;
/** Words that stand in every plan. */
const COMMON = new Set(
  'with this that from when will have what which their your into project product user users agent workflow create using pour dans avec cette sont plus utilisateur projet'.split(
    ' ',
  ),
);

/** How much a section of a document is about a matter: by the words they share, those of its heading above all. */
export function aboutness(topic: string): Aboutness {
  const wanted = wordsOf(topic);
  const shared = (text: string): number => {
    let count = 0;
    for (const word of wordsOf(text)) if (wanted.has(word)) count += 1;
    return count;
  };
  return ({ title, text }) => IN_TITLE * shared(title ?? '') + shared(text);
}

function wordsOf(text: string): Set<string> {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  const words = plain.match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => word.length >= LEAST_LETTERS && !COMMON.has(word)));
}
