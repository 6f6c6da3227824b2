import { t } from '../text/message.ts';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { BmadError, type ErrorCode, type ErrorDetails, shortageIn, systemCode } from '../errors.ts';
import type { Log } from '../log.ts';
import { present } from '../values.ts';

/** The door to threads: work that would hold up every other call is asked of a thread of its own, and can be called off. */

type Work<Ask, Answer> = (ask: Ask, signal: AbortSignal, tell: (message: string) => void) => Promise<Answer>;

type ToThread<Ask> = { id: number; ask: Ask } | { cancel: number } | { ready: true } | { end: true };

type FromThread<Answer> =
  | { id: number; answer: Answer }
  | { id: number; failed: Failure }
  | { id: number; progress: string }
  | { renew: true }
  | { level: keyof Log; message: string; fields: Record<string, unknown> };

/** An error loses its class and its fields on the way between threads. */
type Failure =
  | { code: ErrorCode; message: string; details: ErrorDetails }
  | { system: string | undefined; message: string };

interface Waiting<Answer> {
  worker: Worker;
  tell(message: string): void;
  settle(result: { answer: Answer } | { error: unknown }): void;
}

export interface ThreadParts {
  /** The file that the thread runs. */
  file: URL;
  /** What it begins with; it is copied. */
  data: unknown;
  log: Log;
  /** A thread that nobody has asked anything for so long is let go; the next question starts another. */
  idleMs: number | undefined;
}

/** A thread that is started with the first question, and again after it has failed. */
export class Thread<Ask, Answer> {
  readonly #parts: ThreadParts;
  readonly #waiting = new Map<number, Waiting<Answer>>();
  #worker: Worker | undefined;
  #asked = 0;
  #idle: NodeJS.Timeout | undefined;
  /** The one that asked to be replaced as soon as nobody waits for it. */
  #worn: Worker | undefined;

  constructor(parts: ThreadParts) {
    this.#parts = parts;
  }

  ask(ask: Ask, signal: AbortSignal, tell: (message: string) => void): Promise<Answer> {
    signal.throwIfAborted();
    clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#start());
    const id = (this.#asked += 1);
    worker.ref();
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#post({ cancel: id }, worker);
        this.#settled(id, { error: signal.reason });
      };
      this.#waiting.set(id, {
        worker,
        tell,
        settle(result) {
          signal.removeEventListener('abort', leave);
          if ('answer' in result) resolve(result.answer);
          else reject(result.error);
        },
      });
      signal.addEventListener('abort', leave, { once: true });
      this.#post({ id, ask });
    });
  }

  /** Lets the thread come to its end by itself: what it was asked is answered, and what it is writing is written. */
  stop(): void {
    clearTimeout(this.#idle);
    this.#post({ end: true });
    this.#worker = undefined;
  }

  #post(message: ToThread<Ask>, worker = this.#worker): void {
    // The rule means windows, which a message could reach by mistake.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    worker?.postMessage(message);
  }

  #start(): Worker {
    const { file, data, log } = this.#parts;
    // What a package prints there must not get among the messages of the protocol.
    // The room for what is new grows to 48 MB by itself, which is no faster for what threads do here. How much garbage is left lying
    // follows from the other limit, which no thread here comes near: as much again as is in use without one, a third of it with this one.
    const resourceLimits = { maxYoungGenerationSizeMb: 24, maxOldGenerationSizeMb: 512 };
    const worker = new Worker(file, { workerData: data, stdout: true, stderr: true, resourceLimits });
    worker.stdout.resume();
    worker.stderr.resume();
    worker.on('message', (message: FromThread<Answer>) => {
      if ('level' in message) log[message.level](message.message, message.fields);
      else if ('renew' in message) {
        this.#worn = worker;
        if (this.#waiting.size === 0) this.#rest();
      } else if ('progress' in message) this.#waiting.get(message.id)?.tell(message.progress);
      else if ('answer' in message) this.#settled(message.id, { answer: message.answer });
      else this.#settled(message.id, { error: errorOf(message.failed) });
    });
    worker.on('error', (error) => {
      log.warn('A thread has failed', { error: String(error) });
      this.#gone(worker, error);
    });
    worker.on('exit', () => this.#gone(worker, undefined));
    return worker;
  }

  #settled(id: number, result: { answer: Answer } | { error: unknown }): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    waiting.settle(result);
    if (this.#waiting.size === 0) this.#rest();
  }

  /** Nobody waits: the thread no longer keeps the program from ending. */
  #rest(): void {
    if (this.#worn !== undefined && this.#worn === this.#worker) {
      this.#worn = undefined;
      this.stop();
      try {
        this.#worker = this.#start();
        this.#post({ ready: true });
      } catch (error) {
        // The next question tries again, and its caller gets the error.
        this.#parts.log.warn('A thread could not be replaced', { error: String(error) });
      }
    }
    this.#worker?.unref();
    if (this.#parts.idleMs === undefined) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.stop(), this.#parts.idleMs);
    this.#idle.unref();
  }

  #gone(worker: Worker, cause: unknown): void {
    if (this.#worker === worker) this.#worker = undefined;
    const hint = shortageIn(startFailure(cause)) ?? t`Call again.`;
    const error = new BmadError('unavailable', t`The work was interrupted.`, { hint, cause });
    for (const [id, waiting] of this.#waiting) if (waiting.worker === worker) this.#settled(id, { error });
  }
}

interface Served<Ask, Answer> {
  work: Work<Ask, Answer>;
  /** Prepares for the next question, for a thread that has replaced another. */
  ready(): Promise<void>;
  stop(): void;
}

/**
 * The other side: what the file of a thread does, with `open` for what it begins with. A thread that has done much calls
 * `renew`: the memory that the work has taken goes back to the system only with the thread.
 */
export function serveThread<Data, Ask, Answer>(
  open: (data: Data, log: Log, renew: () => void) => Promise<Served<Ask, Answer>>,
): void {
  const port = parentPort;
  if (port === null) throw new Error('This file is run by a thread');
  const post = (message: FromThread<Answer>): void => port.postMessage(message);
  const logged =
    (level: keyof Log) =>
    (message: string | (() => string), fields = {}): void =>
      post({ level, message: typeof message === 'string' ? message : message(), fields });
  const log = { error: logged('error'), warn: logged('warn'), info: logged('info'), debug: logged('debug') };
  let opened: ReturnType<typeof open> | undefined;
  // What the machine was short of may be there the next time.
  const isOpen = (): ReturnType<typeof open> =>
    (opened ??= open(workerData as Data, log, () => post({ renew: true })).catch((error: unknown) => {
      opened = undefined;
      throw error;
    }));
  const running = new Map<number, AbortController>();

  async function answer(id: number, ask: Ask): Promise<void> {
    const called = new AbortController();
    running.set(id, called);
    try {
      const { work } = await isOpen();
      post({ id, answer: await work(ask, called.signal, (progress) => post({ id, progress })) });
    } catch (error) {
      post({ id, failed: failureOf(error) });
    } finally {
      running.delete(id);
      if (isEnding) end();
    }
  }

  let isEnding = false;
  function end(): void {
    isEnding = true;
    if (running.size > 0) return;
    port?.close();
    opened?.then(
      ({ stop }) => stop(),
      () => undefined,
    );
  }

  port.on('message', (message: ToThread<Ask>) => {
    if ('cancel' in message) running.get(message.cancel)?.abort();
    else if ('ask' in message) void answer(message.id, message.ask);
    else if ('ready' in message)
      void isOpen()
        .then(({ ready }) => ready())
        .catch(() => undefined);
    else end();
  });
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof BmadError)) return { system: systemCode(error), message: String(error) };
  const { code, message, reason, hint, steps, subject, suggestions, differences } = error;
  return {
    code,
    message,
    details: { ...present({ reason, hint, subject }), steps, suggestions, differences },
  };
}

function errorOf(failure: Failure): Error {
  if ('details' in failure) return new BmadError(failure.code, failure.message, failure.details);
  return Object.assign(new Error(failure.message), present({ code: failure.system }));
}

/** A thread that cannot begin says only in its message what the machine is short of. */
function startFailure(cause: unknown): unknown {
  const [code] = /\bE[A-Z]{4,}$/.exec(cause instanceof Error ? cause.message : '') ?? [];
  return code === undefined ? cause : Object.assign(new Error(code), { code });
}
