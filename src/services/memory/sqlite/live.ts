import { BmadError } from '../../../base/errors.ts';
import { fileIdentity } from '../../../base/files/file-identity.ts';
import { bringOver, heldBy, isSuccessor, nameStore } from './bring-over.ts';
import { openSqlite, type Database, type OpenOptions } from './open.ts';

export interface LiveSetup extends OpenOptions {
  file: string;
  /** Makes the folder again if it is gone. */
  remake?: (() => Promise<void>) | undefined;
  /** Throws where the file must not be opened, as when it has become a link to elsewhere. */
  admit?: (() => Promise<void>) | undefined;
  /** Hears of a file that was removed or replaced. */
  onMoved?: ((what: string) => void) | undefined;
}

/** How often a write is made again because the file was replaced in the meantime. */
const TRIES = 5;

/**
 * A database as its file is on disk now. A file that was removed or replaced while it is open would go on taking writes
 * that no one else ever sees. So the file is compared before each use, and after each write: one that is gone is made
 * again with all that this process still holds, and what another file in its place does not have is brought into it.
 */
export class LiveDatabase {
  readonly #setup: LiveSetup;
  #database: Database | undefined;
  #identity: string | undefined;
  /** Those of earlier files, which calls may still be using. */
  #former: Database[] = [];
  #settling: Promise<Database> | undefined;
  #users = 0;
  #leaving = false;
  #closed = false;
  #frozen = false;

  private constructor(setup: LiveSetup) {
    this.#setup = setup;
  }

  static async open(setup: LiveSetup): Promise<LiveDatabase> {
    const live = new LiveDatabase(setup);
    await live.#current();
    return live;
  }

  get file(): string {
    return this.#setup.file;
  }

  async read<T>(work: (database: Database) => T): Promise<T> {
    return this.use((database) => database.read(() => work(database)));
  }

  async write<T>(work: (database: Database) => T): Promise<T> {
    return this.use(async (first) => {
      let database = first;
      for (let tries = 0; tries < TRIES; tries++) {
        const written = database;
        const result = await written.write(() => work(written));
        database = await this.#current();
        if (database === written) return result;
      }
      throw new BmadError('unavailable', `${this.#setup.file} is replaced again and again.`, {
        subject: this.#setup.file,
        hint: 'Find out which program replaces it, then try again.',
      });
    });
  }

  async use<T>(work: (database: Database) => Promise<T>): Promise<T> {
    this.#users++;
    try {
      return await work(await this.#current());
    } finally {
      this.#users--;
      this.#tidy();
    }
  }

  /** Gives the file back as soon as no one uses it; whoever uses it later opens it for as long as that takes. */
  leave(): void {
    this.#leaving = true;
    this.#tidy();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const database of this.#former.splice(0)) database.close(this.#setup.writes);
    this.#database?.close(this.#setup.writes);
    this.#database = undefined;
  }

  /** Whether the file is gone and this connection has the last of it; from then on it is read without one. */
  async isLast(): Promise<boolean> {
    this.#frozen =
      this.#database !== undefined && (await fileIdentity(this.#setup.file)) === undefined && !this.#closed;
    return this.#frozen;
  }

  #tidy(): void {
    if (this.#users > 0 || this.#settling !== undefined) return;
    for (const database of this.#former.splice(0)) database.close(this.#setup.writes);
    if (!this.#leaving) return;
    this.#database?.close(this.#setup.writes);
    this.#database = undefined;
  }

  async #current(): Promise<Database> {
    if (this.#closed) throw new Error('A memory store was used after it was closed.');
    if (this.#settling !== undefined) return this.#settling;
    const database = this.#database;
    if (database !== undefined && this.#frozen) return database;
    if (database !== undefined) {
      const now = await fileIdentity(this.#setup.file);
      if (this.#settling !== undefined || this.#database !== database) return this.#current();
      if (now === this.#identity || (now === undefined && this.#setup.writes === false)) return database;
    }
    this.#settling = this.#settle(database).finally(() => {
      this.#settling = undefined;
    });
    return this.#settling;
  }

  async #settle(before: Database | undefined): Promise<Database> {
    const { file, writes = true, remake } = this.#setup;
    if (before === undefined) return this.#open();
    // Before there is another file in its place, whose journal SQLite would take for that of the old one.
    const held = writes ? await heldBy(before).catch(() => undefined) : undefined;
    const wasGone = (await fileIdentity(file)) === undefined;
    if (wasGone) await remake?.();
    const fresh = await this.#open();
    try {
      const brought = held === undefined || isSuccessor(fresh, held) ? 0 : await bringOver(held, fresh);
      const was = wasGone ? 'removed' : 'replaced';
      this.#setup.onMoved?.(
        brought === 1
          ? `${file} was ${was} while it was in use; 1 memory was brought into the new one.`
          : `${file} was ${was} while it was in use; ${brought} memories were brought into the new one.`,
      );
    } catch (error) {
      // The old one still has everything, and the next call tries again.
      this.#database = before;
      this.#identity = undefined;
      this.#former.push(fresh);
      throw error;
    }
    this.#former.push(before);
    return fresh;
  }

  async #open(): Promise<Database> {
    const { file, writes = true, admit } = this.#setup;
    await admit?.();
    for (let tries = 1; ; tries++) {
      const before = await fileIdentity(file);
      if (before === undefined && !writes) throw goneStore(file);
      const database = await openSqlite(file, this.#setup);
      try {
        if (writes && !database.readOnly) await nameStore(database);
        const after = await fileIdentity(file);
        // Replaced while it was being opened: which of the two this one is cannot be told.
        if ((before !== undefined && before !== after) || after === undefined) {
          if (tries < TRIES) {
            database.close();
            continue;
          }
        }
        this.#identity = after;
        this.#database = database;
        return database;
      } catch (error) {
        database.close();
        throw error;
      }
    }
  }
}

function goneStore(file: string): BmadError {
  return new BmadError('unavailable', `${file} does not exist any more.`, {
    subject: file,
    hint: 'It is made again with the next memory. A daily copy can be restored.',
    steps: [{ operation: 'memory_copies', why: 'List the copies that can be restored' }],
  });
}
