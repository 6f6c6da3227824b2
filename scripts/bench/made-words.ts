import { readdirSync, readFileSync } from 'node:fs';

const WORDS =
  'queue cache harbour schema payment retry index worker ledger tenant region shard token budget'.split(' ');

/** Words of a project, the same on every run for the same seed. */
export function madeWords(seed: number, length: number): string {
  return Array.from({ length }, (_, index) => WORDS[(seed * 7 + index * (seed + 3)) % WORDS.length]).join(
    ' ',
  );
}

const PROSE = ['../../docs/guide/', '../../docs/decisions/'].map(
  (folder) => new URL(folder, import.meta.url),
);
/** Of prose: what begins like a sentence, ends like one, and has no mark of a table or a program in it. */
const SENTENCE = /(?<=^|[.!?] )[A-Z][a-z][^.!?|`<>]{30,160}[.!?](?=\s)/gm;

let sentences: readonly string[] | undefined;

/** A sentence that people have written, as memories are: the same on every run for the same seed, while our documents say the same. */
export function realSentence(seed: number): string {
  sentences ??= PROSE.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .sort()
      .flatMap((name) => readFileSync(new URL(name, folder), 'utf8').match(SENTENCE) ?? [])
      .map((sentence) => sentence.replaceAll(/\s+/g, ' ')),
  );
  return sentences[(seed * 31) % sentences.length] as string;
}
