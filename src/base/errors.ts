import { randomBytes } from 'node:crypto';
import { present } from './values.ts';
import { type Step, stepLines, type StepWriter } from './step.ts';
import { visibleJson } from './text/hidden.ts';
import { say, t } from './text/message.ts';
import { cut } from './text/text.ts';

/** Every way a call can fail; assets/api/errors.json says what each means. Exit codes and HTTP statuses come from this table. */
export const ERROR_CODES = {
  invalid_input: { exit: 2, http: 400, retry: false },
  not_found: { exit: 3, http: 404, retry: false },
  ambiguous: { exit: 3, http: 409, retry: false },
  forbidden: { exit: 4, http: 403, retry: false },
  too_large: { exit: 4, http: 413, retry: false },
  conflict: { exit: 5, http: 409, retry: false },
  unavailable: { exit: 6, http: 503, retry: true },
  cancelled: { exit: 130, http: 499, retry: true },
  internal: { exit: 70, http: 500, retry: false },
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** What the content does not have: a name that was asked for, or anything else. */
type Missing = 'name' | 'content';

/** Why it failed, for code that goes on differently: the words of a message are for people and may change. */
type ErrorReason =
  | 'folder'
  | 'file'
  | 'outside'
  | 'locked'
  | 'lost'
  | 'start'
  | 'arguments'
  | Missing
  | 'reused'
  | 'busy'
  | 'quota'
  /** The database that keeps the project's lines. */
  | 'database'
  /** Its connection ended when a change may have been made. */
  | 'uncertain'
  /** Of memories; nothing is wrong with their lines, so that it can be made again, or done without. */
  | 'index';

export interface ErrorDetails {
  reason?: ErrorReason;
  /** What else helps the caller, in words. */
  hint?: string | undefined;
  /** What the caller can do next. */
  steps?: readonly Step[];
  /** The name or URI that was requested. */
  subject?: string;
  /** Similar names or URIs that exist. */
  suggestions?: readonly string[];
  /** What distinguishes the suggestions, one text for each; they are then shown as lines. */
  differences?: readonly string[];
  /** After so many seconds another try may succeed. */
  seconds?: number;
  cause?: unknown;
}

/** A model that has to choose reads a dozen lines, not fifty; `suggestions` has all names. */
const SHOWN_DIFFERENCES = 12;

/** How much of a caller's own value an error message repeats. */
const QUOTED_LENGTH = 120;

export class BmadError extends Error {
  override readonly name = 'BmadError';

  /** Checked by its fields, not by its class: bundles that are loaded late have their own copy of this class. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'BmadError' && 'code' in value;
  }

  readonly code: ErrorCode;
  readonly reason: ErrorReason | undefined;
  readonly hint: string | undefined;
  readonly seconds: number | undefined;
  readonly steps: readonly Step[];
  readonly subject: string | undefined;
  readonly suggestions: readonly string[];
  readonly differences: readonly string[];

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.reason = details.reason;
    this.hint = details.hint;
    this.seconds = details.seconds;
    this.steps = details.steps ?? [];
    this.subject = details.subject;
    this.suggestions = details.suggestions ?? [];
    this.differences = details.differences ?? [];
  }

  get #details(): ErrorDetails {
    const { reason, hint, subject, seconds, steps, suggestions, differences, cause } = this;
    return { ...present({ reason, hint, subject, seconds }), steps, suggestions, differences, cause };
  }

  /** The same error with some of its details changed. */
  with(details: ErrorDetails): BmadError {
    return new BmadError(this.code, this.message, { ...this.#details, ...details });
  }

  /** The same error with all its texts changed; used to remove secrets from it. */
  map(change: (text: string) => string): BmadError {
    const { hint, subject, suggestions, differences } = this;
    return new BmadError(this.code, change(this.message), {
      ...this.#details,
      ...present({ hint: hint && change(hint), subject: subject && change(subject) }),
      suggestions: suggestions.map(change),
      differences: differences.map(change),
    });
  }

  /** Message, suggestions and hint, as a person or a model should read them. */
  textWith(write: StepWriter): string {
    const near = this.suggestions.length > 0 ? t`Did you mean: ${this.suggestions.join(', ')}?` : undefined;
    return [say(this.message), this.#choices ?? near, this.wayOut(write)]
      .filter((part) => part !== undefined)
      .join('\n\n');
  }

  get text(): string {
    return this.textWith(() => undefined);
  }

  /** Hint and steps alone, for surfaces that have a field for them. */
  wayOut(write: StepWriter): string | undefined {
    const lines = [...(this.hint === undefined ? [] : [say(this.hint)]), ...stepLines(this.steps, write)];
    return lines.length === 0 ? undefined : lines.join('\n');
  }

  /** One line for each suggestion, with what distinguishes it. */
  get #choices(): string | undefined {
    if (this.differences.length === 0) return undefined;
    const lines = this.suggestions
      .slice(0, SHOWN_DIFFERENCES)
      .map((name, index) => [`- ${name}`, this.differences[index]].filter(Boolean).join(': '));
    const more = this.suggestions.length - lines.length;
    return [...lines, ...(more > 0 ? [t`- and ${more} more`] : [])].join('\n');
  }

  /** Message and hint in one line, for logs and lists. */
  get line(): string {
    return this.text.replace(/\n+/g, ' ');
  }

  /** Parts of the program are loaded on first use. An update may have replaced them by then, or no handle is left. */
  static notLoaded(cause: unknown): BmadError {
    const hint = shortageIn(cause);
    if (hint !== undefined)
      return new BmadError('unavailable', t`The server cannot do this at the moment.`, { hint, cause });
    return new BmadError('unavailable', t`The program was replaced or removed while it was running.`, {
      hint: t`Restart the server.`,
      cause,
    });
  }

  /**
   * Turns anything thrown into an error that is safe to show. The text of a foreign error may contain paths, secrets or
   * instructions, so callers see only an id; `report` gets the original for the log.
   */
  static from(thrown: unknown, report: (id: string, thrown: unknown) => void): BmadError {
    if (thrown instanceof BmadError) return thrown;
    if (isAbort(thrown)) return new BmadError('cancelled', t`The call was cancelled.`, { cause: thrown });
    const id = randomBytes(4).toString('hex');
    report(id, thrown);
    if (systemCode(thrown) === 'MODULE_NOT_FOUND' || shortageIn(thrown) !== undefined)
      return BmadError.notLoaded(thrown);
    return new BmadError('internal', t`Something went wrong inside the server (incident ${id}).`, {
      hint: t`The server's log on stderr has the details under that id. Please report it if it happens again.`,
      cause: thrown,
    });
  }
}

/** A caller's value for an error message: one line, quoted, short, with what is hidden in it made visible. */
export function quoted(value: string): string {
  const short = value.length > QUOTED_LENGTH ? `${cut(value, QUOTED_LENGTH)}…` : value;
  return visibleJson(JSON.stringify(short));
}

function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown.name === 'AbortError' || thrown.name === 'TimeoutError');
}

const TOO_MANY_FILES = 'Too many files are open. Try again later, or raise the limit (ulimit -n).';
const SHORT_OF: Record<string, string> = {
  EMFILE: TOO_MANY_FILES,
  ENFILE: TOO_MANY_FILES,
  EAGAIN: 'Too many processes are running. Try again later, or raise the limit (ulimit -u).',
  ENOMEM: 'The machine is out of memory. Try again later.',
};

/** What the machine is short of, as a hint; undefined if that is not the reason of an error. */
export function shortageIn(thrown: unknown): string | undefined {
  const hint = SHORT_OF[systemCode(thrown) ?? ''];
  return hint === undefined ? undefined : say(hint);
}

/** The `code` of a Node system error (`ENOENT`, `EACCES`, …), if it is one. */
export function systemCode(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** A decision counts for the text that was read, not for what has taken its place since. */
export function checkRead(id: string, given: string, current: string, steps: readonly Step[] = []): void {
  if (given === current) return;
  const message = t`${id} is not what was read: its digest is ${current}, not ${quoted(given)}.`;
  const hint = t`It has changed since, or the digest is that of something else.`;
  throw new BmadError('conflict', message, { subject: id, hint, steps });
}

/** Text that could not be understood, with the place where it went wrong. */
export class ParseError extends Error {
  override readonly name = 'ParseError';

  /** By what it is: parts that are loaded late have a copy of this class. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'ParseError';
  }

  readonly file: string;
  readonly line: number | undefined;

  /** The line as an object without it shows: for lists of problems. */
  get place(): { line?: number } {
    return this.line === undefined ? {} : { line: this.line };
  }

  constructor(file: string, line: number | undefined, reason: string) {
    super(`${file}${line === undefined ? '' : `:${line}`}: ${reason}`);
    this.file = file;
    this.line = line;
  }
}

type Handler<T> = (thrown: unknown) => T;

/** Handles our own errors, or only those of the given codes; any other is thrown on. For `.catch(…)` and {@link attempt}. */
export function ours<T>(handle: (error: BmadError) => T, ...codes: ErrorCode[]): Handler<T> {
  return (thrown) => {
    if (!(thrown instanceof BmadError)) throw thrown;
    if (codes.length > 0 && !codes.includes(thrown.code)) throw thrown;
    return handle(thrown);
  };
}

/** Handles a text that cannot be parsed. */
export function broken<T>(handle: (error: ParseError) => T, file?: string): Handler<T> {
  return (thrown) => {
    const error = asParseError(thrown, file);
    if (error === undefined) throw thrown;
    return handle(error);
  };
}

/** The stack overflows on a text that is nested too deeply, wherever the work on it happens to be then. */
function asParseError(thrown: unknown, file = t`the file`): ParseError | undefined {
  if (thrown instanceof ParseError) return thrown;
  const overflow = thrown instanceof RangeError && /call stack/i.test(thrown.message);
  return overflow ? new ParseError(file, undefined, t`nested too deeply`) : undefined;
}

/** Handles what a bad file causes: one that cannot be read, and one that cannot be parsed. */
export function expected<T>(handle: (error: BmadError | ParseError) => T, file?: string): Handler<T> {
  return (thrown) => {
    const error = asParseError(thrown, file);
    return error === undefined ? ours(handle)(thrown) : handle(error);
  };
}

/** A value in place of what a bad file would have given. */
export function orElse<T>(value: T): Handler<T> {
  return expected(() => value);
}

/** For something that may be missing: nothing then. */
export const unlessMissing: Handler<undefined> = ours(() => undefined, 'not_found');

/**
 * A value in place of what could not be had, whatever the reason; but a machine that is short of handles or memory says
 * nothing about what was looked for.
 */
export function unlessShort<T>(value: T): Handler<T> {
  return (thrown) => {
    if (shortageIn(thrown) !== undefined) throw thrown;
    return value;
  };
}

/** `try` and `catch` as one value. */
export function attempt<T, U>(work: () => T, otherwise: Handler<U>): T | U {
  try {
    return work();
  } catch (error) {
    return otherwise(error);
  }
}

interface Problem {
  file: string;
  line?: number;
  message: string;
}

/** Handles an expected error by putting it on a list of problems. */
export function noted<T>(problems: Problem[], file: string, otherwise: T): Handler<T> {
  return expected((error) => {
    problems.push({ file, ...(error instanceof ParseError ? error.place : {}), message: error.message });
    return otherwise;
  }, file);
}
