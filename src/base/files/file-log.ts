import { statSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { ensureFile } from './file-modes.ts';
import { writeAtomic, isAbsent, writeFailure } from './file-state.ts';

/** Append-only files of lines. Writers hold a lock; readers need none and see only whole lines. */

export interface LogPlace {
  /** Identifies the file: a log that was replaced starts from the beginning. */
  file: bigint;
  offset: number;
}

export interface LogRead {
  place: LogPlace;
  /** The lines are the whole log, not only those after the given position. */
  fromStart: boolean;
}

/** Read in small pieces, so that other work gets its turn in between; written in large ones. */
const READ_CHUNK = 256 * 1024;
const WRITE_CHUNK = 4 * 1024 * 1024;
const NEWLINE = 0x0a;

/** Passes on the complete lines after a position; undefined if there is no file. */
export async function readLog(
  path: string,
  after: LogPlace | undefined,
  onStart: () => void,
  onLine: (line: string) => void,
): Promise<LogRead | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'r');
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw writeFailure(path, error);
  }
  try {
    const { ino, size } = await handle.stat({ bigint: true });
    const fromStart = after?.file !== ino || size < BigInt(after.offset);
    let offset = fromStart ? 0 : after.offset;
    if (fromStart) onStart();
    let rest = Buffer.alloc(0);
    const buffer = Buffer.allocUnsafe(Math.min(READ_CHUNK, Math.max(1, Number(size) - offset)));
    for (let at = offset; at < Number(size);) {
      const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, Number(size) - at), at);
      if (bytesRead === 0) break;
      at += bytesRead;
      const part =
        rest.length === 0
          ? buffer.subarray(0, bytesRead)
          : Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
      let from = 0;
      for (let end = part.indexOf(NEWLINE); end !== -1; end = part.indexOf(NEWLINE, from)) {
        if (end > from) onLine(part.toString('utf8', from, end));
        from = end + 1;
      }
      offset += from;
      rest = Buffer.from(part.subarray(from));
    }
    return { place: { file: ino, offset }, fromStart };
  } finally {
    await handle.close();
  }
}

export interface LogStamp {
  /** Which file it is. */
  file: bigint;
  bytes: number;
  /** Changes with the file and with what is in it. */
  version: string;
  plain: boolean;
}

/**
 * Detects whether a log has changed, without reading it; undefined if there is none. It is called for each list, and
 * waiting for a thread would take many times as long as the check itself.
 */
export function logStamp(path: string): LogStamp | undefined {
  try {
    const info = statSync(path, { bigint: true });
    return {
      file: info.ino,
      bytes: Number(info.size),
      version: `${info.ino} ${info.size} ${info.mtimeNs}`,
      plain: info.isFile(),
    };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw writeFailure(path, error);
  }
}

/** Appends lines and waits until they are on disk. An unfinished last line left by a crash stays a separate line. */
export async function appendLog(path: string, lines: readonly string[]): Promise<LogPlace> {
  try {
    await ensureFile(path);
    const handle = await open(path, 'a+');
    try {
      const { size } = await handle.stat();
      const last = Buffer.alloc(1, NEWLINE);
      if (size > 0) await handle.read(last, 0, 1, size - 1);
      try {
        await handle.writeFile(`${last[0] === NEWLINE ? '' : '\n'}${lines.join('\n')}\n`);
        await handle.sync();
      } catch (error) {
        // Half of it may have been written, and a later line would make it look complete.
        await handle.truncate(size).catch(() => undefined);
        throw error;
      }
      const end = await handle.stat({ bigint: true });
      return { file: end.ino, offset: Number(end.size) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw writeFailure(path, error);
  }
}

/** Replaces a long log with a shorter one. Readers see the old or the new. */
export async function replaceLog(path: string, lines: Iterable<string>): Promise<void> {
  await writeAtomic(path, inChunks(lines));
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
