/** Somebody outside the project. */
export interface Requester {
  /** Stands for them in files, and does not tell their token. */
  mark: string;
  /** Whether they see only what they have asked for themselves. */
  alone: boolean;
}
