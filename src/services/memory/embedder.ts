/** Turns texts into vectors that lie near each other when the texts mean the same. */
export interface Embedder {
  /** Names the model: vectors of different ids are never compared. */
  id: string;
  dim: number;
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
}
