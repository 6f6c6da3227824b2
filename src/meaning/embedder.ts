/** Turns texts into vectors. Vectors of different ids or lengths must never be compared with each other. */
export interface Embedder {
  /** Names the model and its version; kept beside every vector that is stored. */
  readonly id: string;
  readonly dim: number;
  /** One vector a text, in the same order, each of length one; all zeros where a text has no words. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
}
