import { t } from '../text/message.ts';
import { lstatSync, type BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { systemCode } from '../errors.ts';
import { appendWhole } from './file-shared.ts';
import { stateReadFailure, strange, writeFailure } from './file-refusals.ts';
import { fileMode } from './file-modes.ts';
import { writeAtomic } from './file-state.ts';
import { isAbsent, type OpenedFile, whileAppending, whileReading } from './open-file.ts';

/** Append-only files of lines. Who replaces one holds a lock; appending whole lines and reading them needs none. */

export interface LogPlace {
  /** Identifies the file: a log that was replaced starts from the beginning. */
  file: bigint;
  offset: number;
}

/** A file that is not held open leaves its number to the next one, which was made at another time. */
function identity({ ino, birthtimeNs }: Pick<BigIntStats, 'ino' | 'birthtimeNs'>): bigint {
  return (ino << 64n) | birthtimeNs;
}

/** Read in small pieces, so that other work gets its turn in between; written in large ones. */
const READ_CHUNK = 256 * 1024;
const WRITE_CHUNK = 4 * 1024 * 1024;
const NEWLINE = 0x0a;
/** Longer than any line that was ever written. */
const LINE_BYTES = 12 * 1024 * 1024;
/** A file that goes on for so long without a line end is not a log. */
const NO_LINE_BYTES = 32 * 1024 * 1024;

/**
 * Passes on the complete lines after a position; undefined if there is no file. One that is too long is not held in
 * memory: it is passed on as an empty one, which no reader can make anything of.
 */
export async function readLog(
  path: string,
  after: LogPlace | undefined,
  onStart: () => void,
  onLine: (line: string) => void,
  inside?: string,
): Promise<{ place: LogPlace } | undefined> {
  const read = async (opened: OpenedFile): Promise<{ place: LogPlace }> => {
    const { handle, size } = opened;
    const isSame = after?.file === identity(opened) && size >= after.offset;
    const fromStart = !isSame || !(await isLineEnd(handle, after.offset));
    let offset = fromStart ? 0 : after.offset;
    if (fromStart) onStart();
    /** The beginning of a line whose end has not been read yet: put together once, however long it is. */
    let begun: Buffer[] = [];
    const buffer = Buffer.allocUnsafe(Math.min(READ_CHUNK, Math.max(1, size - offset)));
    for (let at = offset; at < size;) {
      const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, size - at), at);
      if (bytesRead === 0) break;
      const part = buffer.subarray(0, bytesRead);
      let from = 0;
      for (let end = part.indexOf(NEWLINE); end !== -1; end = part.indexOf(NEWLINE, from)) {
        const tail = part.subarray(from, end);
        const long = at + end - offset > LINE_BYTES;
        const line = long || begun.length === 0 ? tail : Buffer.concat([...begun, tail]);
        begun = [];
        if (long || line.length > 0) onLine(long ? '' : line.toString('utf8'));
        from = end + 1;
        offset = at + from;
      }
      at += bytesRead;
      if (at - offset > NO_LINE_BYTES) throw strange(path, t`it has a line that is too long`);
      if (at - offset > LINE_BYTES) begun = [];
      else begun.push(Buffer.from(part.subarray(from)));
    }
    return { place: { file: identity(opened), offset } };
  };
  return whileReading(path, { inside }, read).catch((error: unknown) => {
    // What is wrong with a line, its reader says.
    throw systemCode(error) === undefined ? error : stateReadFailure(path, error);
  });
}

/** Where a reader stopped, a line has ended; if none ends there now, somebody has changed what is before it. */
async function isLineEnd(handle: FileHandle, offset: number): Promise<boolean> {
  if (offset === 0) return true;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, offset - 1);
  return buffer[0] === NEWLINE;
}

/** The last complete lines of a log, as many as are in its last bytes; undefined if there is no file. */
export async function lastLines(path: string, bytes: number, inside?: string): Promise<string[] | undefined> {
  const read = async ({ handle, size }: OpenedFile): Promise<string[]> => {
    const from = Math.max(0, size - bytes);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - from), 0, size - from, from);
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
    // What comes after the last line end is not a whole line yet, and the first may have begun before.
    return lines.slice(from === 0 ? 0 : 1, -1).filter((line) => line !== '');
  };
  return whileReading(path, { inside }, read).catch((error: unknown) => {
    throw stateReadFailure(path, error);
  });
}

export interface LogStamp {
  /** Which file it is. */
  file: bigint;
  bytes: number;
  /** Changes with the file and with what is in it. */
  version: string;
  /** When it was last changed, in milliseconds. */
  at: number;
  plain: boolean;
}

/**
 * Detects whether a log has changed, without reading it; undefined if there is none. It is called for each list, and
 * waiting for a thread would take many times as long as the check itself.
 */
export function logStamp(path: string): LogStamp | undefined {
  try {
    const info = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (info === undefined) return undefined;
    return {
      file: identity(info),
      bytes: Number(info.size),
      version: `${info.ino} ${info.size} ${info.mtimeNs}`,
      at: Number(info.mtimeMs),
      plain: info.isFile(),
    };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw writeFailure(path, error);
  }
}

/** Appends lines and waits until they are on disk. An unfinished last line left by a crash stays a separate line. */
export async function appendLog(path: string, lines: readonly string[], inside?: string): Promise<LogPlace> {
  try {
    const end = await appendWhole(path, { inside, sync: true }, async (file) => {
      const last = Buffer.alloc(1, NEWLINE);
      if (file.size > 0) await file.handle.read(last, 0, 1, file.size - 1);
      return `${last[0] === NEWLINE ? '' : '\n'}${lines.join('\n')}\n`;
    });
    return { file: identity(end), offset: Number(end.size) };
  } catch (error) {
    throw writeFailure(path, error);
  }
}

/** Takes back what was appended last. */
export async function shortenLog(path: string, bytes: number, inside?: string): Promise<void> {
  await whileAppending(path, await fileMode(path), { inside }, ({ handle }) => handle.truncate(bytes));
}

/** Replaces a long log with a shorter one. Readers see the old or the new. */
export async function replaceLog(path: string, lines: Iterable<string>, inside?: string): Promise<void> {
  await writeAtomic(path, inChunks(lines), { inside });
}

function* inChunks(lines: Iterable<string>): Generator<string> {
  let part = '';
  for (const line of lines) {
    part += `${line}\n`;
    if (part.length < WRITE_CHUNK) continue;
    yield part;
    part = '';
  }
  yield part;
}
