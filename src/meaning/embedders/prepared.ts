import { t } from '../../base/text/message.ts';
import { BmadError } from '../../base/errors.ts';
import { type Embedder, smallVector, wholeVector } from '../vectors.ts';

/** Vectors that were made when the server was built, so that the first search need not make them. */
export const PREPARED_FILE = 'search-vectors.json';

interface Prepared {
  /** The id of the embedder that made them. */
  model: string;
  /** By the text: the scale, then the numbers. */
  vectors: Record<string, [number, string]>;
}

/** The file for these texts. */
export async function prepareVectors(texts: readonly string[], embedder: Embedder): Promise<string> {
  const vectors = await embedder.embed(texts);
  const entries = texts.map((text, index): [string, [number, string]] => {
    const { numbers, scale } = smallVector(vectors[index] ?? new Float32Array());
    return [text, [scale, Buffer.from(numbers).toString('base64')]];
  });
  const prepared: Prepared = { model: embedder.id, vectors: Object.fromEntries(entries) };
  return JSON.stringify(prepared);
}

/** The same embedder, which looks up what was prepared; with a file of another model, simply the same. */
export function withPrepared(embedder: Embedder, file: string): Embedder {
  const { model, vectors } = parsed(file);
  if (model !== embedder.id) return embedder;
  const known = new Map(Object.entries(vectors));
  return {
    id: embedder.id,
    dim: embedder.dim,
    async embed(texts, signal) {
      const unknown = texts.filter((text) => !known.has(text));
      const made = (await embedder.embed(unknown, signal)).values();
      return texts.map((text) => {
        const [scale, numbers] = known.get(text) ?? [];
        if (scale === undefined || numbers === undefined) return made.next().value ?? new Float32Array();
        return wholeVector({ scale, numbers: new Int8Array(Buffer.from(numbers, 'base64')) });
      });
    },
  };
}

function parsed(file: string): Prepared {
  try {
    return JSON.parse(file) as Prepared;
  } catch (cause) {
    throw new BmadError('unavailable', t`The file with the prepared vectors is damaged.`, {
      subject: PREPARED_FILE,
      hint: t`Reinstall the server to restore it.`,
      cause,
    });
  }
}
