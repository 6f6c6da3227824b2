import type { Secrets } from './secrets.ts';

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Fields = Record<string, unknown>;

export interface Log {
  error(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  debug(message: string, fields?: Fields): void;
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

export function createLog(options: LogOptions): Log {
  const threshold = LOG_LEVELS.indexOf(options.level);
  const now = options.now ?? (() => new Date());

  function emit(level: LogLevel, message: string, fields: Fields): void {
    if (LOG_LEVELS.indexOf(level) > threshold) return;
    const line = options.json
      ? JSON.stringify({ time: now().toISOString(), level, message, ...fields })
      : [
          `${level}: ${message}`,
          ...Object.entries(fields).map(([key, value]) => `${key}=${show(value)}`),
        ].join(' ');
    options.write(`${options.secrets.redact(line).slice(0, LINE_LIMIT)}\n`);
  }

  return {
    error: (message, fields = {}) => emit('error', message, fields),
    warn: (message, fields = {}) => emit('warn', message, fields),
    info: (message, fields = {}) => emit('info', message, fields),
    debug: (message, fields = {}) => emit('debug', message, fields),
  };
}

function show(value: unknown): string {
  return typeof value === 'string' && /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
}
