import { readlinkSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { sep } from 'node:path';

/**
 * A disk that fails at its n-th change. It sits below all of our code, at the functions of Node that change the disk, in
 * the process that calls it: a test itself, or a program that it starts.
 */

export interface Fault {
  kind: FaultKind;
  /** The number of the call, from 1, among those that this kind of fault can strike. */
  n: number;
  /** Only changes below this folder count; all if there is none. */
  folder?: string | undefined;
}

export type FaultKind =
  /** This one call fails with an I/O error. */
  | 'error'
  /** From this call on, nothing that needs room succeeds; what is there can still be renamed and removed. */
  | 'full'
  /** Half of what this call should write is written, then the disk is full. */
  | 'short'
  /** Neither this call is made nor any later one: a kill that the process survives, to be looked at. */
  | 'dead'
  /** The same, and if this call is a write, half of it is made. */
  | 'torn'
  /** The process is killed before the call, after it, or in the middle of what it writes. */
  | 'kill'
  | 'kill-after'
  | 'kill-torn';

interface Watch {
  /** The calls that this kind of fault could strike, by their names. */
  readonly calls: readonly string[];
  /** Whether it came that far. */
  readonly struck: boolean;
  restore(): void;
}

type Method = (this: unknown, ...args: unknown[]) => unknown;
type Methods = Record<string, Method>;

const require = createRequire(import.meta.url);
const promises = require('node:fs/promises') as Methods;
const plain = require('node:fs') as Methods;

/** Without `lutimes`: signs of life come with time, not with the work. */
const OF_PATHS =
  'open mkdir mkdtemp writeFile appendFile copyFile cp symlink link rename rm rmdir unlink chmod utimes truncate'.split(
    ' ',
  );
const OF_HANDLES = [
  'write',
  'writev',
  'writeFile',
  'appendFile',
  'sync',
  'datasync',
  'truncate',
  'chmod',
  'utimes',
];
/** The names of the functions that do not return a promise. */
const SYNCHRONOUS = OF_PATHS.map((name) => `${name}Sync`);
const NEEDS_ROOM =
  /^(?:open|mkdir|mkdtemp|writeFile|appendFile|write|writev|copyFile|cp|symlink|link|sync|datasync)$/;
const WRITES = /^(?:write|writeFile|appendFile)$/;

/** What a kind of fault can strike. */
function concerns(kind: FaultKind, name: string): boolean {
  if (kind === 'full') return NEEDS_ROOM.test(name);
  return kind === 'short' || kind === 'kill-torn' ? WRITES.test(name) : true;
}

function systemError(code: string, call: string): Error {
  return Object.assign(new Error(`${code}: made by a test, ${call}`), { code, syscall: call });
}

/** From the files that are opened to be written; where they are opened to be read, nothing changes. */
function opensToWrite(flags: unknown): boolean {
  return typeof flags === 'number' ? (flags & 3) !== 0 : flags !== undefined && flags !== 'r';
}

/** A path that begins at the handle of a folder, as a path from the top. */
function fromTop(path: string): string {
  const [, handle, rest = ''] = /^(\/proc\/self\/fd\/\d+)(\/.*)?$/.exec(path) ?? [];
  return handle === undefined ? path : `${readlinkSync(handle)}${rest}`;
}

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal has come before this is reached; nothing may happen if it has not.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

async function handlePrototype(): Promise<Methods> {
  const handle = (await promises['open']?.(import.meta.filename, 'r')) as { close(): Promise<void> };
  await handle.close();
  return Object.getPrototypeOf(handle) as Methods;
}

/** Makes the disk fail until `restore` is called. */
export async function breakDisk({ kind, n, folder }: Fault): Promise<Watch> {
  const calls: string[] = [];
  const handles = await handlePrototype();
  const real = new Map<Methods, Map<string, Method>>();
  const isBelow = (path: unknown): boolean => {
    if (folder === undefined || typeof path !== 'string') return true;
    const place = fromTop(path);
    return place === folder || place.startsWith(folder + sep);
  };

  /** The part of a write that is still made when it is cut off; nothing for any other call. */
  const half = (name: string, data: unknown): unknown => {
    if (!WRITES.test(name)) return undefined;
    if (typeof data === 'string') return data.slice(0, data.length / 2);
    return data instanceof Uint8Array ? data.subarray(0, data.length / 2) : undefined;
  };

  /** What becomes of a call: the answer of `make`, which takes the data to write, or an error. */
  const decide = (name: string, data: unknown, make: (part?: unknown) => unknown): unknown => {
    if (!concerns(kind, name)) return make();
    calls.push(name);
    const now = calls.length === n;
    const later = calls.length > n;
    if (!now && !later) return make();
    const part = half(name, data);
    const after = (then: () => unknown): unknown => {
      const made = part === undefined ? undefined : make(part);
      return made instanceof Promise ? made.then(then) : then();
    };
    const fail = (code: string) => (): never => {
      throw systemError(code, name);
    };
    switch (kind) {
      case 'error':
        return now ? fail('EIO')() : make();
      case 'full':
        return fail('ENOSPC')();
      case 'short':
        // The system says how much it has written; whoever asks for the whole finds out at the next call.
        if (now && name === 'write') return make(part);
        return now ? after(fail('ENOSPC')) : fail('ENOSPC')();
      case 'dead':
        return fail('EIO')();
      case 'torn':
        return now ? after(fail('EIO')) : fail('EIO')();
      case 'kill':
        return die();
      case 'kill-torn':
        return after(die);
      case 'kill-after': {
        const made = make();
        return made instanceof Promise ? made.then(die, die) : die();
      }
    }
  };

  const patch = (target: Methods, name: string, changed: (original: Method) => Method): void => {
    const original = target[name];
    if (original === undefined) return;
    const known = real.get(target) ?? new Map<string, Method>();
    real.set(target, known.set(name, original));
    target[name] = changed(original);
  };
  const ofPath = (name: string, original: Method): Method =>
    function (this: unknown, ...args) {
      const opens = name.startsWith('open');
      // Both ends of a rename are in the same folder here.
      if (!isBelow(name.startsWith('symlink') ? args[1] : args[0]) || (opens && !opensToWrite(args[1])))
        return original.apply(this, args);
      return decide(name.replace(/Sync$/, ''), args[1], (part) =>
        original.apply(this, part === undefined ? args : [args[0], part, ...args.slice(2)]),
      );
    };
  const asPromise = (method: Method): Method =>
    async function (this: unknown, ...args) {
      return method.apply(this, args);
    };
  for (const name of OF_PATHS) patch(promises, name, (original) => asPromise(ofPath(name, original)));
  for (const name of SYNCHRONOUS) patch(plain, name, (original) => ofPath(name, original));
  for (const name of OF_HANDLES)
    patch(handles, name, (original) =>
      asPromise(function (this: unknown, ...args) {
        const { fd } = this as { fd: number };
        const place = process.platform === 'linux' ? `/proc/self/fd/${fd}` : undefined;
        if (!isBelow(place)) return original.apply(this, args);
        return decide(name, args[0], (part) => original.apply(this, part === undefined ? args : [part]));
      }),
    );
  syncBuiltinESMExports();
  return {
    calls,
    get struck() {
      return calls.length >= n;
    },
    restore() {
      for (const [target, methods] of real) for (const [name, method] of methods) target[name] = method;
      syncBuiltinESMExports();
    },
  };
}

/** Runs an action on a disk that fails. What it throws is part of the answer. */
export async function onFaultyDisk(
  fault: Fault,
  action: () => Promise<unknown>,
): Promise<{ struck: boolean; calls: readonly string[]; error: unknown }> {
  const disk = await breakDisk(fault);
  let error: unknown;
  try {
    await action();
  } catch (thrown) {
    error = thrown;
  } finally {
    disk.restore();
  }
  return { struck: disk.struck, calls: disk.calls, error };
}
