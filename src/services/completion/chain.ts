import { plural } from '../../base/text/text.ts';
import { newerLink, ORIGIN, opened, type Link, type Receipt } from './receipts.ts';

export interface ChainProblem {
  /** Line of the file; nothing for what is missing at its end. */
  line?: number;
  kind: 'changed' | 'damaged' | 'removed' | 'order' | 'newer';
  message: string;
}

export interface ChainReport {
  lines: number;
  /** Receipts that are as they were written, in their order. */
  intact: Receipt[];
  problems: ChainProblem[];
}

const MOST_PROBLEMS = 50;
/** Of all receipts only the newest are handed on; older ones are checked all the same. */
const KEPT = 1_000;

/** Checks receipts as they are read: each against its own hash, and against the one before. */
export class ChainCheck {
  private lines = 0;
  private intact: Receipt[] = [];
  private readonly problems: ChainProblem[] = [];
  private last: Link = { seq: 0, hash: ORIGIN };
  /** After a line that cannot be read nobody knows what it was, so the next one cannot be compared. */
  private unknown = false;
  private readonly hashes = new Map<number, string>();

  line(text: string): void {
    this.lines += 1;
    const read = opened(text);
    const newer = read === undefined ? newerLink(text) : undefined;
    if (newer !== undefined) {
      this.unknown = false;
      this.last = newer;
      this.hashes.set(newer.seq, newer.hash);
      return this.problem(
        'newer',
        `(number ${newer.seq}) was written by a newer version of this server and cannot be checked by this one.`,
      );
    }
    if (read === undefined) {
      this.unknown = true;
      return this.problem('damaged', 'is not a valid receipt: it was edited or truncated.');
    }
    const { receipt, intact } = read;
    if (!intact) this.problem('changed', `(${receipt.id}) was changed after it was written.`);
    if (!this.unknown) this.follow(receipt);
    this.unknown = false;
    this.last = { seq: receipt.seq, hash: receipt.hash };
    this.hashes.set(receipt.seq, receipt.hash);
    if (!intact) return;
    this.intact.push(receipt);
    if (this.intact.length > KEPT * 2) this.intact = this.intact.slice(-KEPT);
  }

  /** `noted` is the end of the chain as it was noted elsewhere. A note that is behind comes from a crash. */
  finish(noted: Link | undefined): ChainReport {
    if (noted !== undefined) {
      const there = this.hashes.get(noted.seq);
      if (noted.seq > this.last.seq)
        this.add({
          kind: 'removed',
          message: `${plural(noted.seq - this.last.seq, 'receipt is', 'receipts are')} missing at the end: the last one written was number ${noted.seq}.`,
        });
      else if (there !== undefined && there !== noted.hash)
        this.add({
          kind: 'changed',
          message: `Receipt number ${noted.seq} differs from the one recorded outside the project when it was written.`,
        });
    }
    return { lines: this.lines, intact: this.intact.slice(-KEPT), problems: this.problems };
  }

  private follow({ seq, previous, id }: Receipt): void {
    const { seq: before, hash } = this.last;
    if (seq > before + 1)
      this.problem(
        'removed',
        `(${id}) follows number ${seq - 1}: ${plural(seq - 1 - before, 'receipt was', 'receipts were')} removed before it.`,
      );
    else if (seq <= before)
      this.problem('order', `(${id}) does not come after number ${before}: receipts were moved or copied.`);
    else if (previous !== hash)
      this.problem('changed', `(${id}) does not follow the receipt before it: one of them was replaced.`);
  }

  private problem(kind: ChainProblem['kind'], what: string): void {
    this.add({ line: this.lines, kind, message: `Line ${this.lines} ${what}` });
  }

  private add(problem: ChainProblem): void {
    if (this.problems.length < MOST_PROBLEMS) this.problems.push(problem);
  }
}
