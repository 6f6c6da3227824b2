/** A question to the model of the client. */
export interface SampleRequest {
  system?: string;
  prompt: string;
  maxTokens: number;
  /** What the caller is told while it is really asked: answers of earlier rounds are told of no more. */
  waiting?: string;
  /** How long the answer may take; one that comes later is not used. */
  timeMs?: number;
  /**
   * The call goes on as well without an answer. The same question is asked once in a conversation, and a client that has
   * once not answered is not asked again.
   */
  optional?: true;
}

/** The text of the model, or why there is none, in words. */
export type Sampled = SampledText | { text?: undefined; why: string };

export interface SampledText {
  text: string;
  /** The client says that the text ends where the tokens did. */
  cutShort?: true;
  /** Which model it was, as the client says. */
  model?: string;
}
