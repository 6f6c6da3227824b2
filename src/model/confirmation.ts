/** A question that only a person may answer. */
export interface ConfirmRequest {
  /** What the person decides, as a question. */
  question: string;
  /** What the person has to know for that, in lines. */
  details: string;
  /** What yes means, as an imperative: "Allow it". */
  yes: string;
}

/** What the person said, or why nobody did, in words. */
export type Confirmed = { yes: true } | { yes: false; why: string };
