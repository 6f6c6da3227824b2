import { join } from 'node:path';
import { jsonObject } from '../../base/parse/json.ts';
import { sha256 } from '../../base/sha256.ts';
import { readState, stateNames, writeAtomic } from '../../base/files/file-state.ts';

/** What a person has allowed: this source, for the project with this lock file. */
export interface Consent {
  lock: string;
  source: string;
}

/**
 * The sources of projects that the user has fetched there, one small file each. Being in the cache for another reason
 * is not consent; and `clear` learns from here which projects still use what.
 */
export class Consents {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async has(consent: Consent): Promise<boolean> {
    return (await readState(this.#file(consent)).catch(() => undefined)) !== undefined;
  }

  async give(consent: Consent): Promise<void> {
    if (!(await this.has(consent))) await writeAtomic(this.#file(consent), `${JSON.stringify(consent)}\n`);
  }

  /** The lock files of all projects for which there is a consent. */
  async locks(): Promise<string[]> {
    const found = new Set<string>();
    for (const name of await stateNames(this.#folder)) {
      // A file that is being written, was never completed or is not ours says nothing.
      if (!name.endsWith('.json')) continue;
      const text = await readState(join(this.#folder, name)).catch(() => undefined);
      const lock = jsonObject(text ?? '')?.['lock'];
      if (typeof lock === 'string') found.add(lock);
    }
    return [...found].sort();
  }

  #file({ lock, source }: Consent): string {
    const key = sha256(`${lock}\0${source}`).slice(0, 32);
    return join(this.#folder, `${key}.json`);
  }
}
