import type { MemoryEntry } from '../../model/memory.ts';
import type { Embedder } from '../../meaning/vectors.ts';
import { isMemoryId } from '../../base/memory-ids.ts';
import { memoryId, placeId } from '../../kit/memories/ids.ts';
import { lineText } from '../../kit/memories/line-files.ts';
import type { KitEntry } from '../../kit/memories/entry.ts';
import { utcOf } from '../../base/text/local-time.ts';
import { normalized, termsOf } from './rank.ts';
import type { OpenMemory } from './opened.ts';

/** An entry of a file of the project, ready to be compared. */
export interface KitCandidate {
  entry: MemoryEntry;
  /** Its text as a line: copies are known by it. */
  line: string;
  names: readonly string[];
  terms: readonly string[];
  vector: Float32Array | undefined;
  source: string;
  /** The source, with the line where it is known. */
  place: string;
  dated: boolean;
  /** `FM-001`, where the file numbers what it has. */
  number: string | undefined;
}

/** The vectors of file entries are computed in each process, so there is a limit to how many get one. */
const VECTORS = 2_000;
const UNDATED = '1970-01-01T00:00:00.000Z';

interface Index {
  from: readonly KitEntry[];
  /** The embedder that candidates have vectors of, and its dimensions; a model may be replaced under its name. */
  space: string | undefined;
  candidates: KitCandidate[];
  /** By text: when a file has changed, most of what is in it has not. */
  vectors: { space: string | undefined; made: ReadonlyMap<string, Float32Array> };
  /** By text and tags. */
  terms: ReadonlyMap<string, readonly string[]>;
}

const indexes = new WeakMap<OpenMemory, Index>();

export async function kitCandidates(
  opened: OpenMemory,
  embedder: Embedder | undefined,
): Promise<readonly KitCandidate[]> {
  const { entries } = await opened.files.read();
  const known = indexes.get(opened);
  const space = embedder === undefined ? undefined : `${embedder.id}/${embedder.dim}`;
  // Those who ask without an embedder do not look at vectors.
  if (known?.from === entries && (space === undefined || known.space === space)) return known.candidates;
  const keyOf = ({ text, tags }: Pick<KitEntry, 'text' | 'tags'>): string => [text, ...tags].join('\n');
  const candidates = apart(
    entries.map((entry) =>
      candidateOf(entry, known?.terms.get(keyOf(entry)) ?? termsOf(opened.analyser, entry), opened),
    ),
  );
  const terms = new Map(candidates.map((each) => [keyOf(each.entry), each.terms]));
  const before = known?.vectors ?? { space, made: new Map() };
  const made = before.space === space ? before.made : new Map<string, Float32Array>();
  const vectors =
    embedder === undefined ? before : { space, made: await addVectors(candidates, made, opened, embedder) };
  indexes.set(opened, { from: entries, space, candidates, vectors, terms });
  return candidates;
}

/** Two texts of files that begin alike are two, each with an id of its own. */
function apart(candidates: KitCandidate[]): KitCandidate[] {
  const texts = new Map<string, string>();
  for (const { entry, source, line: text } of candidates) {
    const key = `${entry.type}/${entry.id}`;
    if ((texts.get(key) ?? text) !== text) entry.id = placeId(entry.project, entry.agent, source, entry.text);
    else texts.set(key, text);
  }
  return candidates;
}

function candidateOf(entry: KitEntry, terms: readonly string[], { files }: OpenMemory): KitCandidate {
  const { app } = files.kit;
  const { type, agent, text, tags, source, line, names, date } = entry;
  const at = utcOf(date);
  return {
    entry: {
      id: isMemoryId(entry.copyOf ?? '') ? (entry.copyOf ?? '').toLowerCase() : memoryId(app, agent, text),
      type,
      agent,
      text,
      tags: tags.map((tag) => tag.normalize('NFC')),
      project: app,
      createdAt: at ?? UNDATED,
      updatedAt: at ?? UNDATED,
      revision: 1,
    },
    line: lineText(text),
    names,
    terms,
    vector: undefined,
    source,
    place: line === undefined ? source : `${source}:${line}`,
    dated: at !== undefined,
    number: entry.number,
  };
}

async function addVectors(
  candidates: readonly KitCandidate[],
  made: ReadonlyMap<string, Float32Array>,
  opened: OpenMemory,
  embedder: Embedder,
): Promise<ReadonlyMap<string, Float32Array>> {
  const vectors = new Map<string, Float32Array>();
  const some = candidates.slice(0, VECTORS);
  const missing = [...new Set(some.map(({ entry }) => entry.text))].filter((text) => !made.has(text));
  try {
    const fresh = missing.length === 0 ? [] : await embedder.embed(missing);
    for (const [index, text] of missing.entries()) {
      const vector = fresh[index];
      if (vector !== undefined) vectors.set(text, normalized(vector));
    }
  } catch (error) {
    opened.embedderFailed(error);
  }
  for (const candidate of some) {
    candidate.vector = vectors.get(candidate.entry.text) ?? made.get(candidate.entry.text);
    if (candidate.vector !== undefined) vectors.set(candidate.entry.text, candidate.vector);
  }
  return vectors;
}
