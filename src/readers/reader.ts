import type { ModuleInfo } from '../model/module.ts';
import type { BmadRecord, Problem } from '../model/record.ts';
import type { Source } from '../sources/source.ts';

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
}
