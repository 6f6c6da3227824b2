/** Turns a text into the words that are compared. Handed in, so that memory and code can share one. */
export interface Analyser {
  /** Changes when the same text yields different words; derived data is then recomputed. */
  id: string;
  terms: (text: string) => string[];
}
