import type { ModuleInfo } from '../model/module.ts';
import type { BmadRecord, Problem } from '../model/record.ts';
import type { Source } from '../sources/tree.ts';

/** What one reader understood of one source. */
export interface Reading {
  records: BmadRecord[];
  modules: ModuleInfo[];
  problems: Problem[];
}

/**
 * Understands one family of BMAD formats. Readers are not exclusive: each takes what is its own and leaves the rest,
 * because real installs are mixtures. A reader reports problems and does not throw for the sake of one file.
 */
export interface Reader {
  generation: string;
  read(source: Source): Promise<Reading>;
  /** The files beside the main one that say something of its record, and of no other. */
  beside?: readonly string[];
  /**
   * The record again, whose text is another one while all other files, and which there are, are the same. Nothing where that
   * cannot be said of it alone.
   */
  again?(source: Source, record: BmadRecord, reading: Reading): Promise<BmadRecord | undefined>;
}
