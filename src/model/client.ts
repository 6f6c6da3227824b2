import * as z from 'zod';
import type { ERROR_CODES, ErrorDetails } from '../base/errors.ts';

/** Somebody outside the project. */
export interface Requester {
  /** Stands for them in files, and does not tell their token. */
  mark: string;
  /** Whether they see only what they have asked for themselves. */
  alone: boolean;
}

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

/** A question to the model of the client. */
export interface SampleRequest {
  system?: string;
  prompt: string;
  maxTokens: number;
  /** Progress for the caller while the model is asked; answers from earlier rounds are not announced again. */
  waiting?: string;
  /** How long the answer may take; one that comes later is not used. */
  timeMs?: number;
  /** What all questions of the call may come to; what was asked in earlier rounds of it counts too. */
  within?: SampleLimits;
  /**
   * The call works just as well without an answer. The same question is asked once per conversation, and a client that
   * has once not answered is not asked again.
   */
  optional?: true;
}

/** The text of the model, or why there is none, in words. */
export type Sampled = SampledText | NotSampled;

interface NotSampled {
  text?: undefined;
  why: string;
  /** The model was not even asked. */
  unasked?: true;
}

interface SampleLimits {
  questions: number;
  /** What is left for this question and for those of earlier rounds that the call does not know of. */
  tokens: number;
  /** The most that this question and its answer come to. */
  cost: number;
}

export interface SampledText {
  text: string;
  /** The client says that the text ends where the tokens did. */
  cutShort?: true;
  /** Which model it was, as the client says. */
  model?: string;
}

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

/** Longer than any name or id that is kept. */
const LONGEST_NAME = 200;

const name = z.string().max(LONGEST_NAME);
/** One line of the audit of calls. */
export const auditLineSchema = z.object({
  at: z.string(),
  by: z.object({
    kind: name,
    name: name,
    /** Tells tokens of one name apart. */
    token: name.optional(),
    host: name.optional(),
    session: name.optional(),
  }),
  operation: name,
  project: z.string().optional(),
  /** The id of what the call was about, or of what it has made. */
  target: name.optional(),
  /** `ok`, the code of the error, why the door has refused, or `begun` where a line is required before a change. */
  outcome: name,
  ms: z.number(),
  /** How many requests this line stands for, where that is not one. */
  count: z.number().optional(),
  /** Which machine it was, where those of several are together. */
  machine: z.string().optional(),
});

export type AuditLine = z.output<typeof auditLineSchema>;

export interface AuditFilter {
  /** In milliseconds. */
  since: number;
  caller?: string | undefined;
  operation?: string | undefined;
  outcome?: string | undefined;
  /** At most so many, the last ones. */
  limit: number;
}

/** A line of a machine's audit, by its place there. */
export interface AuditRow {
  day: string;
  number: number;
  host: string;
  line: AuditLine;
}

/** Where the audits of several machines are together. */
export interface SharedAudit {
  /** For people. */
  at: string;
  /** The last number that it has of this machine, for each day. */
  kept(): Promise<ReadonlyMap<string, number>>;
  /** One that it has already is left as it is. */
  add(rows: readonly AuditRow[]): Promise<void>;
  read(wanted: AuditFilter): Promise<{ lines: AuditLine[]; more: number }>;
}
