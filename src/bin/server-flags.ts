import { BmadError, ERROR_CODES } from '../base/errors.ts';
import { SERVER_PROGRAM } from '../base/product.ts';
import { parseFlags, type ParsedFlags } from '../config/flags.ts';
import { printer } from './printer.ts';
import { programArguments, SERVE } from './program-place.ts';

const SWITCHES = ['help', 'version', 'test', 'summary', 'http', 'new-token'] as const;
const VALUES = ['port'] as const;

type ServerFlags = ParsedFlags<(typeof SWITCHES)[number], (typeof VALUES)[number]>;

/** The command line of the server, which its two programs read alike. `bmad serve` is the same server over HTTP. */
export function serverFlags(): ServerFlags {
  const [first, ...rest] = programArguments();
  return parseFlags(first === SERVE ? ['--http', ...rest] : programArguments(), SWITCHES, VALUES);
}

/** Prints to stderr why a program could not start or continue. */
export function fail(thrown: unknown, program = SERVER_PROGRAM): void {
  const error = BmadError.from(thrown, (id, original) =>
    printer.err(`incident ${id}: ${String(original instanceof Error ? original.stack : original)}\n`),
  );
  printer.err(`${program}: ${error.text}\n`);
  process.exitCode = ERROR_CODES[error.code].exit;
}
