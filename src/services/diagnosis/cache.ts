import {
  KEPT_PARTS,
  keptFiles,
  MOST_FILES,
  MOST_FOLDER_BYTES,
  type KeptFile,
} from '../../catalogue/kept-files.ts';

/** One folder of what is kept of large content. */
interface CachePart {
  part: (typeof KEPT_PARTS)[number];
  folder: string;
  files: number;
  bytes: number;
  /** When the newest and the oldest were written, in milliseconds. */
  newest?: number;
  oldest?: number;
  /** How many are damaged, or of another version of the server: they are made again when they are needed. */
  damaged: number;
  outdated: number;
}

export interface CacheReport {
  parts: CachePart[];
  /** What each may hold at most. */
  mostFiles: number;
  mostBytes: number;
}

/** What is kept of large content for the next process, of all projects. */
export async function surveyCache(cache: string): Promise<CacheReport> {
  const parts: CachePart[] = [];
  for (const part of KEPT_PARTS) {
    const kept = keptFiles(cache, part);
    const files = await kept.survey();
    const count = (is: KeptFile['is']): number => files.filter((file) => file.is === is).length;
    const [newest, oldest] = [files[0]?.mtimeMs, files.at(-1)?.mtimeMs];
    parts.push({
      part,
      folder: kept.folder,
      files: files.length,
      bytes: files.reduce((sum, { size }) => sum + size, 0),
      ...(newest === undefined || oldest === undefined ? {} : { newest, oldest }),
      damaged: count('damaged'),
      outdated: count('of another version'),
    });
  }
  return { parts, mostFiles: MOST_FILES, mostBytes: MOST_FOLDER_BYTES };
}

/** Removes all of it. */
export async function clearCache(cache: string): Promise<{ files: number; bytes: number }> {
  const cleared = { files: 0, bytes: 0 };
  for (const part of KEPT_PARTS) {
    const { files, bytes } = await keptFiles(cache, part).clear();
    cleared.files += files;
    cleared.bytes += bytes;
  }
  return cleared;
}
