import { t } from '../../base/text/message.ts';
import { plural } from '../../base/text/message.ts';
import { newerLink, ORIGIN, receiptIn, type Link, type Receipt } from './receipts.ts';

export interface ChainProblem {
  kind: 'changed' | 'damaged' | 'removed' | 'order' | 'newer';
  message: string;
}

/** What the user's own state says was written here. */
export interface Noted {
  links: readonly Link[];
  /** Of an earlier version: the end of its chain, and since when that was written here without a gap. */
  old?: OldNote | undefined;
}

export interface OldNote extends Link {
  from: number;
  /** What was about to be added: where it is there, it was written here, even if that could not be noted. */
  next?: Link;
}

export interface Chain {
  /** How many receipts there are; where only the latest were read, the number of the newest. */
  count: number;
  /** Receipts that are as they were written, in their order. */
  intact: Receipt[];
  problems: ChainProblem[];
  /** Those that no other one follows: the next one names them all. */
  heads: Link[];
  /** Whether it was written here, as the user's own state has it: what a project brings along proves nothing. */
  fromHere(receipt: Pick<Receipt, 'hash'>): boolean;
}

interface Node extends Link {
  /** Nothing for one of a newer version, which cannot be checked. */
  id?: string;
  previous: readonly string[];
}

const MOST_PROBLEMS = 50;
/** Of all receipts only the newest are handed on; older ones are checked all the same. */
const KEPT = 1_000;

const inTheirOrder = (one: Receipt, other: Receipt): number =>
  one.seq - other.seq ||
  (one.started === other.started ? (one.hash < other.hash ? -1 : 1) : one.started < other.started ? -1 : 1);

/**
 * Checks receipts in whatever order they are read: each against its own hash, and against those that it names as the ones
 * before. Each process has a chain of its own, and its first receipt names the ends of those that were there.
 */
export class ReceiptChain {
  #intact = new Map<string, Receipt>();
  readonly #nodes = new Map<string, Node>();
  readonly #problems: ChainProblem[] = [];
  /** The number of the last one in each file, in which they only rise. */
  readonly #last = new Map<string, number>();

  /** A receipt of a file; `asWritten` is false where its text has another spelling than the one that is written. */
  add(value: unknown, file: string, { asWritten = true, newer = false } = {}): void {
    const read = newer ? undefined : receiptIn(value);
    const link = read?.receipt ?? newerLink(value);
    if (link === undefined)
      return this.#problem(
        'damaged',
        t`${file} has a line that is not a valid receipt: it was edited or truncated.`,
      );
    const { seq, hash } = link;
    const known = this.#nodes.get(hash);
    const before = this.#last.get(file) ?? 0;
    this.#last.set(file, seq);
    if (read === undefined) {
      if (known === undefined || known.seq < seq) this.#nodes.set(hash, { seq, hash, previous: [] });
      return this.#problem(
        'newer',
        t`${file}: number ${seq} was written by a newer version of this server and cannot be checked by this one.`,
      );
    }
    const { receipt, intact } = read;
    if (!intact || !asWritten)
      this.#problem('changed', t`${file}: ${receipt.id} was changed after it was written.`);
    if (seq <= before)
      this.#problem(
        'order',
        t`${file}: ${receipt.id} does not come after number ${before}: receipts were moved or copied.`,
      );
    if (known !== undefined) return;
    const previous = receipt.previous === ORIGIN ? [] : receipt.previous.split(' ');
    this.#nodes.set(hash, { seq, hash, id: receipt.id, previous });
    if (!intact || !asWritten) return;
    this.#intact.set(hash, receipt);
    if (this.#intact.size > KEPT * 2) this.#intact = new Map(this.#newest().map((each) => [each.hash, each]));
  }

  damaged(message: string): void {
    this.#problem('damaged', message);
  }

  /** With `latest`, older ones were not read, and nobody knows whether they are there. */
  finish({ links, old }: Noted, latest = false): Chain {
    const here = new Set(links.map(({ hash }) => hash));
    if (old !== undefined) this.#addOld(old, here);
    const noted = old === undefined ? links : [...links, old];
    const nodes = [...this.#nodes.values()];
    const isWhole = nodes.every(({ previous }) => previous.every((hash) => this.#nodes.has(hash)));
    const lowest = isWhole || !latest ? 0 : nodes.reduce((least, { seq }) => Math.min(least, seq), Infinity);
    const known = noted.filter(({ seq }) => seq > lowest);
    this.#compare(known, latest);
    return {
      count: isWhole || !latest ? nodes.length : nodes.reduce((most, { seq }) => Math.max(most, seq), 0),
      intact: this.#newest(),
      problems: this.#problems,
      heads: this.#heads(known),
      fromHere: ({ hash }) => here.has(hash),
    };
  }

  #newest(): Receipt[] {
    return [...this.#intact.values()].sort(inTheirOrder).slice(-KEPT);
  }

  /** What is missing counts as well: its number is never given again, and the gap stays to be seen. */
  #heads(noted: readonly Link[]): Link[] {
    const all = new Map<string, Link>(noted.map((link) => [link.hash, link]));
    for (const node of this.#nodes.values()) all.set(node.hash, node);
    for (const { previous } of this.#nodes.values()) for (const hash of previous) all.delete(hash);
    return [...all.values()].map(({ seq, hash }) => ({ seq, hash }));
  }

  /** All that the end of an earlier version's chain follows. */
  #addOld({ hash, from, next }: OldNote, here: Set<string>): void {
    const open = [hash, ...(next === undefined ? [] : [next.hash])];
    for (let each = open.pop(); each !== undefined; each = open.pop()) {
      const node = this.#nodes.get(each);
      if (node === undefined || node.seq < from || here.has(each)) continue;
      here.add(each);
      open.push(...node.previous);
    }
  }

  /** Each one against those it follows, and what was noted against what is there. */
  #compare(noted: readonly Link[], latest: boolean): void {
    const numbers = new Set([...this.#nodes.values()].map(({ seq }) => seq));
    const named = new Set<string>();
    for (const { id, seq, previous } of this.#nodes.values()) {
      if (id === undefined) continue;
      const before = previous.map((hash) => this.#nodes.get(hash));
      if (before.includes(undefined)) {
        for (const hash of previous) named.add(hash);
        if (latest) continue;
        if (numbers.has(seq - 1))
          this.#problem('changed', t`${id} does not follow the receipt before it: one of them was replaced.`);
        else this.#problem('removed', t`${id} follows number ${seq - 1}: receipts were removed before it.`);
      } else if (seq !== 1 + before.reduce((most, node) => Math.max(most, node?.seq ?? 0), 0))
        this.#problem('order', t`${id} has a number that does not follow those before it.`);
    }
    const missing = noted.filter(({ hash }) => !this.#nodes.has(hash) && !named.has(hash));
    const replaced = missing.filter(({ seq }) => numbers.has(seq));
    const last = replaced.at(-1);
    if (last !== undefined)
      this.#problem(
        'changed',
        t`Receipt number ${last.seq} differs from the one recorded outside the project when it was written.`,
      );
    const gone = missing.filter(({ seq }) => !numbers.has(seq));
    if (gone.length > 0)
      this.#problem(
        'removed',
        t`${plural(gone.length, 'receipt is', 'receipts are')} missing: the last one written was number ${Math.max(...gone.map(({ seq }) => seq))}.`,
      );
  }

  #problem(kind: ChainProblem['kind'], message: string): void {
    if (this.#problems.length < MOST_PROBLEMS) this.#problems.push({ kind, message });
  }
}
