import { sha256 } from '../../base/sha256.ts';
import type { FileStamp } from '../../base/files/file-stamps.ts';
import { readInside } from '../../base/files/files.ts';
import { chunksByDefinition, chunksByHeading, chunksByWindow, type Chunk } from './chunks.ts';
import type { IndexedFile, Vocabulary } from './code-index.ts';
import type { Grammars } from './grammars.ts';
import { languageOf } from './languages.ts';
import { packOf, type Packed } from './pieces.ts';
import { LARGEST_FILE, unfitText } from './wanted-files.ts';

/** The rest of a longer line is data. */
const LONGEST_LINE = 2_000;

/** The lines of a file of the project; lines end with a line feed, whatever precedes it. */
export async function readLines(root: string, path: string): Promise<string[]> {
  return linesOf((await readInside(root, path, LARGEST_FILE)).toString('utf8'));
}

function linesOf(text: string): string[] {
  return text.replace(/^\uFEFF/, '').split('\n');
}

/**
 * Reads a file and takes it apart. `known` is what was known before: if the content is the same, only the stamp is new.
 * `rough` leaves the grammar out for now, which is many times faster.
 */
export async function readFile(
  { root, grammars }: { root: string; grammars: Grammars },
  vocabulary: Vocabulary,
  path: string,
  stamp: FileStamp,
  known: IndexedFile | undefined,
  rough: boolean,
): Promise<IndexedFile> {
  const language = languageOf(path);
  const empty = {
    path,
    ...stamp,
    language,
    rough: false,
    ...packOf([], [], []),
  };
  if (stamp.size > LARGEST_FILE) return { ...empty, hash: '', skipped: 'large' };
  const bytes = await readInside(root, path, LARGEST_FILE);
  const hash = sha256(bytes).slice(0, 24);
  if (known?.hash === hash && (!known.rough || rough)) return { ...known, ...stamp };
  const text = bytes.toString('utf8');
  const skipped = unfitText(bytes, text);
  if (skipped !== undefined) return { ...empty, hash, skipped };
  const lines = linesOf(text);
  const later = rough && grammars.covers(language, path);
  const definitions = later ? undefined : await grammars.definitions(language, path, lines.join('\n'));
  const chunks =
    definitions !== undefined
      ? chunksByDefinition(lines, definitions)
      : language === 'markdown'
        ? chunksByHeading(lines)
        : chunksByWindow(lines);
  return { ...empty, hash, rough: later, ...withWords(path, lines, chunks, vocabulary) };
}

/** Names say more than code, and the file's own name more than those of its folders. */
const WEIGHTS = { symbol: 3, name: 2, folder: 1 };

function withWords(
  path: string,
  lines: readonly string[],
  chunks: readonly Chunk[],
  vocabulary: Vocabulary,
): Packed {
  const slash = path.lastIndexOf('/') + 1;
  const place = [
    [path.slice(slash), WEIGHTS.name],
    [path.slice(0, slash), WEIGHTS.folder],
  ] as const;
  const words: number[] = [];
  const ends = chunks.map(({ start, end, symbol }) => {
    const texts = lines.slice(start, end + 1).map((line) => [line.slice(0, LONGEST_LINE), 1] as const);
    for (const counted of vocabulary.counted([...place, [symbol, WEIGHTS.symbol], ...texts]))
      words.push(counted);
    return words.length;
  });
  return packOf(chunks, words, ends);
}
