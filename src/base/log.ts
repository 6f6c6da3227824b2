import type { Secrets } from './secrets/rules.ts';
import { visible, visibleJson } from './text/hidden.ts';
import { cut } from './text/text.ts';

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Fields = Record<string, unknown>;

export interface Log {
  error(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  /** What takes work to say is said by a function: it is hardly ever wanted. */
  debug(message: string | (() => string), fields?: Fields): void;
}

export interface LogOptions {
  level: LogLevel;
  /** Takes one finished line; the programs hand in stderr, because stdout belongs to the protocol. */
  write(line: string): void;
  /** JSON lines for machines, plain lines for a terminal. */
  json: boolean;
  secrets: Secrets;
  now?: () => Date;
}

/** No single log line may flood a host's log file. */
const LINE_LIMIT = 4_000;
/** How much of each text is kept in a JSON line that is too long: the line as a whole must stay valid JSON. */
const VALUE_LIMIT = 500;

export function createLog(options: LogOptions): Log {
  const threshold = LOG_LEVELS.indexOf(options.level);
  const now = options.now ?? (() => new Date());

  function emit(level: LogLevel, given: string | (() => string), fields: Fields): void {
    if (LOG_LEVELS.indexOf(level) > threshold) return;
    const message = typeof given === 'string' ? given : given();
    const line = options.json ? jsonLine(level, message, fields) : plainLine(level, message, fields);
    options.write(`${cut(line, LINE_LIMIT)}\n`);
  }

  /** Secrets are removed before serializing: in JSON, one that contains a quote would look different. */
  function redacted(_: string, value: unknown): unknown {
    return typeof value === 'string' ? options.secrets.redact(value) : value;
  }

  function shortened(key: string, value: unknown): unknown {
    const safe = redacted(key, value);
    return typeof safe === 'string' ? cut(safe, VALUE_LIMIT) : safe;
  }

  function jsonLine(level: LogLevel, message: string, fields: Fields): string {
    const head = { time: now().toISOString(), level, message };
    const line = visibleJson(JSON.stringify({ ...head, ...fields }, redacted));
    if (line.length <= LINE_LIMIT) return line;
    const short = visibleJson(JSON.stringify({ ...head, ...fields }, shortened));
    return short.length <= LINE_LIMIT ? short : visibleJson(JSON.stringify(head, shortened));
  }

  function plainLine(level: LogLevel, message: string, fields: Fields): string {
    const shown = Object.entries(fields).map(([key, value]) => `${key}=${show(value, redacted)}`);
    return visible([`${level}: ${options.secrets.redact(message)}`, ...shown].join(' '));
  }

  return {
    error: (message, fields = {}) => emit('error', message, fields),
    warn: (message, fields = {}) => emit('warn', message, fields),
    info: (message, fields = {}) => emit('info', message, fields),
    debug: (message, fields = {}) => emit('debug', message, fields),
  };
}

function show(value: unknown, redacted: (key: string, value: unknown) => unknown): string {
  const safe = redacted('', value);
  return typeof safe === 'string' && /^[\w./:@*-]+$/.test(safe) ? safe : JSON.stringify(safe, redacted);
}
