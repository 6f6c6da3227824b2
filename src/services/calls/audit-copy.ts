import { hostname } from 'node:os';
import { type LogPlace, readLog } from '../../base/files/file-log.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { type AuditRow, auditLineSchema, type SharedAudit } from '../../model/client.ts';

/** What comes together is copied together; where the place is out of reach, it is tried again. */
const SOON_MS = 1_000;
const AGAIN_MS = 30_000;
const AT_ONCE = 1_000;

interface Files {
  days(): Promise<readonly string[]>;
  fileOf(day: string): string;
}

/**
 * Brings the audit of one machine to where those of all are. Its files stay what a call waits for: a line is known there by
 * its day and its number in the file, so that one that was copied twice is there once, and the place itself says what it has.
 */
export class AuditCopy {
  readonly #files: Files;
  readonly #open: () => Promise<SharedAudit | undefined>;
  /** How far each file is copied. */
  readonly #done = new Map<string, { place: LogPlace | undefined; number: number }>();
  #begun = false;
  #last: Promise<unknown> = Promise.resolve();
  #isWaiting = false;

  constructor(files: Files, open: () => Promise<SharedAudit | undefined>) {
    this.#files = files;
    this.#open = open;
  }

  soon(after = SOON_MS): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    setTimeout(() => {
      this.#isWaiting = false;
      this.now().catch(() => this.soon(AGAIN_MS));
    }, after).unref();
  }

  /** All that is written so far; answers the place, where there is one. */
  now(): Promise<SharedAudit | undefined> {
    const turn = this.#last.then(() => this.#copied());
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #copied(): Promise<SharedAudit | undefined> {
    const shared = await this.#open();
    if (shared === undefined) return undefined;
    if (!this.#begun)
      for (const [day, number] of await shared.kept()) this.#done.set(day, { place: undefined, number });
    this.#begun = true;
    for (const day of await this.#files.days()) await this.#day(shared, day);
    return shared;
  }

  async #day(shared: SharedAudit, day: string): Promise<void> {
    const { place, number: copied } = this.#done.get(day) ?? { place: undefined, number: 0 };
    const rows: AuditRow[] = [];
    let number = copied;
    const read = await readLog(
      this.#files.fileOf(day),
      place,
      () => (number = 0),
      (json) => {
        number += 1;
        const { data: line } = auditLineSchema.safeParse(jsonObject(json));
        const isTimed = line !== undefined && !Number.isNaN(Date.parse(line.at));
        if (isTimed && number > copied) rows.push({ day, number, host: hostname(), line });
      },
    );
    for (let from = 0; from < rows.length; from += AT_ONCE)
      await shared.add(rows.slice(from, from + AT_ONCE));
    this.#done.set(day, { place: read?.place, number: Math.max(number, copied) });
  }
}
