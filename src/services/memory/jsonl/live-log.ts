import { appendLog, readLog, replaceLog, type LogPlace } from '../../../base/files/file-log.ts';
import type { Analyser } from '../../../meaning/analyser.ts';
import { headerLine, LogState } from './state.ts';

/** A log is rewritten when most of a long one is obsolete. */
const COMPACT_LINES = 2_000;
const COMPACT_SHARE = 3;

/**
 * The lines of a file and what they come to. A file that was removed takes with it what was answered for, and another in
 * its place does not have it; this process still does, and writes it again.
 */
export class LiveLog {
  readonly #file: string;
  readonly #analyser: Analyser;
  /** The folder that nothing may lead out of. */
  readonly #inside: string | undefined;
  state: LogState;
  #place: LogPlace | undefined;
  /** Set while the state is what calls were answered with, though there may be no file with it any more. */
  #holds = false;
  /** Whether the file lacks some of the state: it was removed, or replaced by another. */
  #unsaved = false;

  constructor(file: string, analyser: Analyser, inside: string | undefined) {
    this.#inside = inside;
    this.#file = file;
    this.#analyser = analyser;
    this.state = new LogState(analyser);
  }

  get unsaved(): boolean {
    return this.#unsaved;
  }

  /** Changes with the file and with what is in it. */
  get stamp(): string {
    return this.#place === undefined ? 'none' : `${this.#place.file}-${this.#place.offset}`;
  }

  async read(): Promise<void> {
    const known = this.#holds ? this.state : undefined;
    let former: LogState | undefined;
    try {
      const read = await readLog(
        this.#file,
        this.#place,
        () => {
          former = known;
          this.state = new LogState(this.#analyser);
        },
        (line) => this.state.take(this.#file, line),
        this.#inside,
      );
      this.#place = read?.place;
      if (read === undefined) {
        if (known === undefined) this.state = new LogState(this.#analyser);
        this.#unsaved = known !== undefined;
        return;
      }
      this.#holds = true;
      if (former === undefined) return;
      this.#unsaved = this.state.lacks(former);
      if (this.#unsaved) this.state.merge(former);
    } catch (error) {
      // Half of a log was loaded; the next attempt starts from the beginning.
      this.#place = undefined;
      if (former !== undefined) this.state = former;
      this.#holds = former !== undefined;
      throw error;
    }
  }

  /** Makes a file again that was removed, or brings into another in its place what that does not have. */
  async save(): Promise<void> {
    if (!this.#unsaved || this.state.damaged > 0) return;
    await this.replace();
    this.#unsaved = false;
    await this.read();
  }

  /** Appends the lines that are decided on, all at once. */
  async append<T>(decide: (append: (line: string) => void) => T): Promise<T> {
    const [place, held] = [this.#place, this.#holds];
    const lines: string[] = [];
    const append = (line: string): void => {
      const added = this.state.lines === 0 ? [headerLine(), line] : [line];
      lines.push(...added);
      // Each line counts for the next decision.
      for (const each of added) this.state.take(this.#file, each);
    };
    // Should anything fail, the log is read again from its start, and what is here was answered to no one.
    this.#place = undefined;
    this.#holds = false;
    const answer = decide(append);
    this.#place = lines.length === 0 ? place : await appendLog(this.#file, lines, this.#inside);
    this.#holds = held || lines.length > 0;
    const { lines: all, kept, damaged } = this.state;
    // Removed between reading and writing: the lines are in a file that has nothing else.
    const wasRemoved = place !== undefined && this.#place?.file !== place.file;
    const isLong = all >= COMPACT_LINES && all >= kept.size * COMPACT_SHARE && damaged === 0;
    if (wasRemoved || isLong) await this.replace();
    return answer;
  }

  /** Writes the shortest log with the same meaning. */
  async replace(): Promise<void> {
    this.#place = undefined;
    await replaceLog(this.#file, this.state.compact(), this.#inside);
  }
}
