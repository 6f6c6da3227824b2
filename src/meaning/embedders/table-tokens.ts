import { Tokenizer } from '@huggingface/tokenizers';
import { quoted } from '../../base/errors.ts';
import { isTable } from '../../base/parse/parse.ts';

/** What is wrong with a tokenizer, in words that follow the name of its file. */
export class BadTokenizer extends Error {}

export interface TableTokens {
  /** How it cuts words: "WordPiece", "Unigram", … */
  kind: string;
  /** One more than the largest number it gives for a token of its vocabulary. */
  size: number;
  /** The rows of a text, without those for what it does not know. */
  ids(text: string): number[];
}

const SAMPLE = 'word';

/** Kinds that tables have; each is a way to cut words into tokens of a vocabulary. */
const KINDS = ['WordPiece', 'Unigram', 'BPE', 'WordLevel'];

/** Reads the text of a `tokenizer.json`. */
export function readTokens(text: string): TableTokens {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BadTokenizer('is not JSON');
  }
  const model = isTable(value) && isTable(value['model']) ? value['model'] : undefined;
  if (!isTable(value) || model === undefined) throw new BadTokenizer('describes no model');
  const kind = model['type'];
  if (typeof kind !== 'string' || !KINDS.includes(kind))
    throw new BadTokenizer(
      `has a model of the type ${quoted(String(kind))}, which is not one of ${KINDS.join(', ')}`,
    );
  const size = vocabularySize(model['vocab']);
  if (size === undefined) throw new BadTokenizer('has no usable vocabulary');
  const unknown = typeof model['unk_id'] === 'number' ? model['unk_id'] : unknownOf(model);
  const tokenizer = opened(value);
  return {
    kind,
    size,
    ids(given) {
      const ids: readonly number[] = tokenizer.encode(given, { add_special_tokens: false }).ids;
      return ids.filter((id) => id !== unknown && id < size);
    },
  };
}

function opened(value: object): Tokenizer {
  try {
    const tokenizer = new Tokenizer(value, {});
    // Some faults show only when a text is cut.
    tokenizer.encode(SAMPLE, { add_special_tokens: false });
    return tokenizer;
  } catch {
    throw new BadTokenizer('cannot be used: a part of it is missing or of an unknown kind');
  }
}

/** A vocabulary has its tokens as a table with their numbers, or as a list of pairs with their weights. */
function vocabularySize(vocab: unknown): number | undefined {
  if (Array.isArray(vocab)) return vocab.length === 0 ? undefined : vocab.length;
  if (!isTable(vocab)) return undefined;
  let size = 0;
  for (const id of Object.values(vocab)) {
    if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0) return undefined;
    size = Math.max(size, id + 1);
  }
  return size === 0 ? undefined : size;
}

function unknownOf(model: Record<string, unknown>): number | undefined {
  const { unk_token: token, vocab } = model;
  const id =
    typeof token === 'string' && isTable(vocab) && Object.hasOwn(vocab, token) ? vocab[token] : undefined;
  return typeof id === 'number' ? id : undefined;
}
