import type { MemoryType } from '../../model/memory.ts';

export const DECISIONS_FILE = 'decisions-log.md';

/** Something worth recalling in a file of the project. */
export interface KitEntry {
  type: MemoryType;
  agent: string;
  /** The agent under all its names. */
  names: readonly string[];
  text: string;
  tags: readonly string[];
  /** A day, or a moment without a zone, as the file has it. */
  date?: string | undefined;
  /** The file, as a path from the top of the project. */
  source: string;
  line?: number | undefined;
  /** The id of the memory that the entry is a copy of, where the file says so. */
  copyOf?: string | undefined;
  /** `FM-001`, where the file numbers what it has. */
  number?: string | undefined;
}

export interface KitReading {
  entries: KitEntry[];
  problems: string[];
}
