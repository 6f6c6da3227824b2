import { basename, dirname, join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { readStateBytes, stateNames, writeAtomic } from '../../base/files/file-state.ts';
import { removeFile } from '../../base/files/open-file.ts';
import { present } from '../../base/values.ts';
import type { ReceiptPlace } from './receipts.ts';

type Stream = 'stdout' | 'stderr';

/** A longer line is told in pieces: one without an end must not fill the memory. */
const LONGEST_LINE = 8_000;
const LINE_FEED = 10;
const RETURN = 13;

/** Sequences for colours, cursors and titles, and all other control characters but the tab. */
// eslint-disable-next-line no-control-regex -- these are what is looked for
const TERMINAL =
  /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])|[\x00-\x08\x0b-\x1f\x7f]/g;

/** A text without what only a terminal understands. */
function plainText(text: string): string {
  return text.replace(TERMINAL, '');
}

export interface KeptOutput {
  /** All of it; of very much the beginning and the end, with a line about what was left out between. */
  text: string;
  lines: number;
  bytes: number;
}

/** How much of the output is kept, in characters. */
const ROOM = { head: 2_000_000, tail: 6_000_000 };

/** What a program writes, line by line. Of very much output only the beginning and the end are kept. */
export class OutputKeeper {
  private readonly decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  private readonly open: Record<Stream, string> = { stdout: '', stderr: '' };
  private readonly head: string[] = [];
  private tail: string[] = [];
  /** Where the tail begins in its list: taking out the first of a list moves all others. */
  private tailStart = 0;
  private headRoom: number;
  private tailSize = 0;
  private lines = 0;
  private bytes = 0;
  private readonly tailRoom: number;
  private readonly onLine: (line: string, from: Stream) => void;

  constructor(onLine: (line: string, from: Stream) => void, room: { head: number; tail: number } = ROOM) {
    this.headRoom = room.head;
    this.tailRoom = room.tail;
    this.onLine = onLine;
  }

  add(chunk: Buffer, from: Stream): void {
    this.bytes += chunk.length;
    this.split(this.decoders[from].write(chunk), from);
  }

  /** A line of our own between those of programs. */
  note(line: string): void {
    this.flush();
    this.line(line, 'stdout');
  }

  /** Takes what was not ended by a line break as a line; to be called when a program has ended. */
  flush(): void {
    for (const from of ['stdout', 'stderr'] as const) {
      const rest = this.open[from] + this.decoders[from].end();
      this.open[from] = '';
      if (rest !== '') this.line(rest, from);
    }
  }

  get kept(): KeptOutput {
    const tail = this.tail.slice(this.tailStart);
    const leftOut = this.lines - this.head.length - tail.length;
    const between = leftOut === 0 ? [] : [`[… ${leftOut} lines left out …]`];
    return {
      text: [...this.head, ...between, ...tail].join('\n'),
      lines: this.lines,
      bytes: this.bytes,
    };
  }

  /** Goes through new text once: what is open from before has no line break. */
  private split(text: string, from: Stream): void {
    let start = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      // Programs that draw progress go back to the beginning of the line.
      if (code !== LINE_FEED && code !== RETURN) continue;
      const line = this.open[from] + text.slice(start, at);
      this.open[from] = '';
      if (line !== '' || code === LINE_FEED) this.pieces(line, from);
      if (code === RETURN && text.charCodeAt(at + 1) === LINE_FEED) at += 1;
      start = at + 1;
    }
    let rest = this.open[from] + text.slice(start);
    if (rest.length > LONGEST_LINE) {
      const whole = rest.length - (rest.length % LONGEST_LINE || LONGEST_LINE);
      this.pieces(rest.slice(0, whole), from);
      rest = rest.slice(whole);
    }
    this.open[from] = rest;
  }

  private pieces(line: string, from: Stream): void {
    if (line.length <= LONGEST_LINE) return this.line(line, from);
    for (let at = 0; at < line.length; at += LONGEST_LINE) this.line(line.slice(at, at + LONGEST_LINE), from);
  }

  private line(raw: string, from: Stream): void {
    const line = plainText(raw);
    this.lines += 1;
    this.onLine(line, from);
    const size = line.length + 1;
    if (this.tail.length === 0 && size <= this.headRoom) {
      this.head.push(line);
      this.headRoom -= size;
      return;
    }
    this.tail.push(line);
    this.tailSize += size;
    while (this.tailSize > this.tailRoom && this.tailStart < this.tail.length - 1)
      this.tailSize -= (this.tail[this.tailStart++]?.length ?? 0) + 1;
    // Moved when most of the list is gone, so that each line is moved about once.
    if (this.tailStart < 1_000 || this.tailStart * 2 < this.tail.length) return;
    this.tail = this.tail.slice(this.tailStart);
    this.tailStart = 0;
  }
}

/** The last whole lines of a text that fit. */
export function endOf(text: string, room: number): string {
  if (text.length <= room) return text;
  const end = text.slice(text.length - room);
  return end.slice(end.indexOf('\n') + 1);
}

const LOGS = 'logs';
const KEPT_LOGS = 10;

/** Keeps the output of a run beside its receipt, and of earlier runs the latest; answers where it is. */
export async function keepLog(
  { folder, inside }: Pick<ReceiptPlace, 'folder' | 'inside'>,
  id: string,
  text: string,
): Promise<string> {
  const own = join(folder, LOGS, `${id}.log`);
  await writeAtomic(own, `${text}\n`, { inside });
  const logs = (await stateNames(dirname(own), inside)).filter((name) => /^cc-\d{6,}\.log$/.test(name));
  const others = logs.filter((name) => name !== basename(own)).sort(byNumber);
  for (const name of others.slice(0, Math.max(0, others.length + 1 - KEPT_LOGS)))
    await removeFile(join(dirname(own), name), inside);
  return own;
}

/** What was kept of a run; nothing where it is no longer there. */
export async function keptLog(
  { folder, inside }: Pick<ReceiptPlace, 'folder' | 'inside'>,
  id: string,
): Promise<string | undefined> {
  if (!/^cc-\d{6,}$/.test(id)) return undefined;
  const found = await readStateBytes(join(folder, LOGS, `${id}.log`), present({ inside }));
  return found?.toString('utf8').replace(/\n$/, '');
}

const byNumber = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : 1);
