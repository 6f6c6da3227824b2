import { StringDecoder } from 'node:string_decoder';

type Stream = 'stdout' | 'stderr';

/** A longer line is told in pieces: one without an end must not fill the memory. */
const LONGEST_LINE = 8_000;

/** Sequences for colours, cursors and titles, and all other control characters but the tab. */
// eslint-disable-next-line no-control-regex -- these are what is looked for
const TERMINAL =
  /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])|[\x00-\x08\x0b-\x1f\x7f]/g;

/** A text without what only a terminal understands. */
function plainText(text: string): string {
  return text.replace(TERMINAL, '');
}

export interface KeptOutput {
  /** The beginning and the end, with a line about what was left out between. */
  text: string;
  lines: number;
  bytes: number;
  leftOutLines: number;
}

/** What a program writes, line by line. Of much output only the beginning and the end are kept. */
export class OutputKeeper {
  private readonly decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  private readonly open: Record<Stream, string> = { stdout: '', stderr: '' };
  private readonly head: string[] = [];
  private tail: string[] = [];
  private headRoom: number;
  private tailSize = 0;
  private lines = 0;
  private bytes = 0;
  private readonly tailRoom: number;
  private readonly onLine: (line: string, from: Stream) => void;

  constructor(room: { head: number; tail: number }, onLine: (line: string, from: Stream) => void) {
    this.headRoom = room.head;
    this.tailRoom = room.tail;
    this.onLine = onLine;
  }

  add(chunk: Buffer, from: Stream): void {
    this.bytes += chunk.length;
    this.split(this.open[from] + this.decoders[from].write(chunk), from);
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
    const leftOut = this.lines - this.head.length - this.tail.length;
    const between = leftOut === 0 ? [] : [`[… ${leftOut} lines left out …]`];
    return {
      text: [...this.head, ...between, ...this.tail].join('\n'),
      lines: this.lines,
      bytes: this.bytes,
      leftOutLines: leftOut,
    };
  }

  private split(text: string, from: Stream): void {
    let rest = text;
    // Programs that draw progress go back to the beginning of the line.
    for (let end = rest.search(/[\r\n]/); end !== -1; end = rest.search(/[\r\n]/)) {
      if (end > 0 || rest[0] === '\n') this.pieces(rest.slice(0, end), from);
      rest = rest.slice(end + (rest.startsWith('\r\n', end) ? 2 : 1));
    }
    while (rest.length > LONGEST_LINE) {
      this.line(rest.slice(0, LONGEST_LINE), from);
      rest = rest.slice(LONGEST_LINE);
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
    let drop = 0;
    while (this.tailSize > this.tailRoom && drop < this.tail.length - 1)
      this.tailSize -= (this.tail[drop++]?.length ?? 0) + 1;
    if (drop > 0) this.tail = this.tail.slice(drop);
  }
}
