import { pace } from '../../base/pace.ts';
import type { Embedder } from '../../meaning/embedder.ts';
import { vectorBlock } from '../../meaning/small-vector.ts';
import { aboutAbbreviations } from './abbreviations.ts';
import type { RecordText } from './record-text.ts';

/** A record is as near as its nearest text, and a little as the next. */
const SECOND_SHARE = 0.3;
const SENTENCE_END = /(?<=[.;!?])\s+/;
const SHORTEST = 3;
const NONE = -2;
/** How many are embedded, and how many are compared, before others get their turn. */
const EMBEDDED_AT_ONCE = 250;
const PASSAGES_AT_ONCE = 10_000;

/** Compares short texts about each record with a question: a long one would blur what it is about. */
export async function meaningIndex(
  texts: readonly RecordText[],
  embedder: Embedder,
  signal?: AbortSignal,
): Promise<(question: string, asking?: AbortSignal) => Promise<Float64Array>> {
  const passages = texts.flatMap((text, at) => passagesOf(text).map((passage) => ({ at, passage })));
  const embedded: Float32Array[] = [];
  for (let from = 0; from < passages.length; from += EMBEDDED_AT_ONCE) {
    await pace();
    const some = passages.slice(from, from + EMBEDDED_AT_ONCE).map(({ passage }) => passage);
    embedded.push(...(await embedder.embed(some, signal)));
  }
  const vectors = vectorBlock(embedded);

  /** The likeness of each record to the question, at most 1, in the order of what was indexed. */
  return async (question, asking) => {
    const [asked = new Float32Array()] = await embedder.embed([question], asking);
    const nearest = new Float64Array(texts.length).fill(NONE);
    const next = new Float64Array(texts.length).fill(NONE);
    for (let index = 0; index < passages.length; index++) {
      if (index % PASSAGES_AT_ONCE === PASSAGES_AT_ONCE - 1) {
        await pace();
        asking?.throwIfAborted();
      }
      const at = passages[index]?.at ?? 0;
      const alike = vectors.likeness(asked, index);
      if (alike > (nearest[at] ?? NONE)) {
        next[at] = nearest[at] ?? NONE;
        nearest[at] = alike;
      } else if (alike > (next[at] ?? NONE)) next[at] = alike;
    }
    return nearest.map((first, at) => {
      const second = next[at] ?? NONE;
      return second === NONE ? Math.max(0, first) : first + (second - first) * SECOND_SHARE;
    });
  };
}

/** An agent's menu is about what it starts; it is a text of that, not of the agent. */
export function passagesOf({ record, fields }: RecordText): string[] {
  const heading = [...fields.name, ...fields.title].join(' ').replaceAll('-', ' ');
  const passages = [
    heading,
    [heading, ...fields.description].join(' '),
    ...fields.description.flatMap((text) => text.split(SENTENCE_END)),
    ...fields.role,
    ...fields['full name'],
    ...fields.name.flatMap(aboutAbbreviations),
    ...(record.kind === 'agent' ? [] : fields.menu),
    ...fields.help,
  ];
  return [...new Set(passages)].filter(({ length }) => length >= SHORTEST);
}
