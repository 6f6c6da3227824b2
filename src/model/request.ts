import type { ERROR_CODES, ErrorDetails } from '../base/errors.ts';

/** A call that may be made again: the same key of another caller is another key. */
export interface RequestKey {
  key: string;
  caller: string;
}

/** What is kept of one. Without an answer it was cut before its end, or is under way. */
export interface KeptRequest {
  at: string;
  /** The digest of what was asked for. */
  input: string;
  answer?: unknown;
  error?: { code: keyof typeof ERROR_CODES; message: string; details: ErrorDetails };
}

/** Where such calls are kept: on this machine, or where others reach it too. */
export interface RequestPlace {
  /** Hands over what is kept, while no one else has the same key; refuses as `locked` where someone has. */
  alone<T>(request: RequestKey, work: (kept: KeptRequest | undefined) => Promise<T>): Promise<T>;
  keep(request: RequestKey, kept: KeptRequest): Promise<void>;
  remove(request: RequestKey): Promise<void>;
}
