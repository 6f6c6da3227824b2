import { splitIdentifier } from '../../base/text/code-words.ts';
import type { Embedder } from '../../meaning/embedder.ts';
import { pieceOf } from './pieces.ts';
import { byScore, type Ranked } from './rank.ts';
import { fileWords, unit } from './vectors.ts';

/** What the meaning of a name counts. Chosen on one half of the pairs; see docs/decisions/0058. */
const NAME_SHARE = 0.8;
/** Only the best are looked at again: a name that fits cannot make up for everything else. */
const LOOKED_AT = 100;

/**
 * The same with the best in the order that the meaning of their names gives them as well. The vector of a piece is of all
 * its code, in which the few words that say what it is for get lost.
 */
export async function withNames(
  ranked: { best: Ranked[]; total: number },
  embedder: Embedder | undefined,
  asked: Float32Array | undefined,
  signal: AbortSignal,
): Promise<{ best: Ranked[]; total: number }> {
  if (embedder === undefined || asked === undefined) return ranked;
  const first = ranked.best.slice(0, LOOKED_AT);
  const vectors = await embedder.embed(first.map(nameOf), signal);
  for (const [at, hit] of first.entries()) {
    const near = cosine(unit(vectors[at] ?? []), asked);
    if (near <= 0) continue;
    hit.parts.name = near;
    hit.score += NAME_SHARE * near * (hit.parts.weight ?? 1);
  }
  return { ...ranked, best: [...first.sort(byScore), ...ranked.best.slice(LOOKED_AT)] };
}

/** A piece without a name is called like its file. */
function nameOf({ file, chunk }: Ranked): string {
  const { symbol } = pieceOf(file, chunk);
  return `${splitIdentifier(symbol.replaceAll('.', ' ')).join(' ')}\n${fileWords(file.path)}`;
}

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
}
