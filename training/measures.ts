/** Texts in the three forms that the methods look at. */
export interface Corpus {
  raw: readonly string[][];
  terms: readonly string[][];
  vectors: readonly Float32Array[];
}

interface Query {
  raw: readonly string[];
  terms: readonly string[];
  vector: Float32Array;
}

/** A score for each document; zero or less means that it is not found. */
export type Method = (query: Query, documents: Corpus) => number[];

const K1 = 1.2;
const B = 0.75;

const inverseFrequency = (documents: readonly (readonly string[])[], term: string): number => {
  const holding = documents.filter((words) => words.includes(term)).length;
  return Math.log(1 + (documents.length - holding + 0.5) / (holding + 0.5));
};

export function bm25(query: readonly string[], documents: readonly (readonly string[])[]): number[] {
  const mean = documents.reduce((sum, words) => sum + words.length, 0) / documents.length;
  const weights = [...new Set(query)].map((term) => [term, inverseFrequency(documents, term)] as const);
  return documents.map((words) =>
    weights.reduce((sum, [term, weight]) => {
      const count = words.filter((word) => word === term).length;
      return sum + (weight * count * (K1 + 1)) / (count + K1 * (1 - B + (B * words.length) / mean));
    }, 0),
  );
}

/** How much of the query a document has: the weight of the terms it holds over the weight of all. */
export function coverage(query: readonly string[], documents: readonly (readonly string[])[]): number[] {
  const weights = [...new Set(query)].map((term) => [term, inverseFrequency(documents, term)] as const);
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
  return documents.map((words) =>
    total === 0
      ? 0
      : weights.reduce((sum, [term, weight]) => sum + (words.includes(term) ? weight : 0), 0) / total,
  );
}

export function cosine(query: Float32Array, documents: readonly Float32Array[]): number[] {
  return documents.map((vector) => vector.reduce((sum, value, i) => sum + value * (query[i] ?? 0), 0));
}

/** The rank of the best right document; never reached when its score is not above zero. Ties count half. */
export function ranksOf(scores: readonly number[], right: readonly number[]): number {
  const best = Math.max(...right.map((index) => scores[index] ?? 0));
  if (best <= 0) return Infinity;
  const others = scores.filter((_, index) => !right.includes(index));
  const equal = others.filter((score) => score === best).length;
  return 1 + others.filter((score) => score > best).length + Math.floor(equal / 2);
}

export function summary(ranks: readonly number[]): string {
  const share = (most: number): string =>
    (ranks.filter((rank) => rank <= most).length / ranks.length).toFixed(2).replace(/^0/, '');
  const reciprocal = ranks.reduce((sum, rank) => sum + 1 / rank, 0) / ranks.length;
  return `${share(1)}/${share(5)}/${reciprocal.toFixed(2).replace(/^0/, '')}`;
}
