import { t } from './text/message.ts';
import { BmadError, shortageIn, type ErrorCode } from './errors.ts';

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
