/**
 * Folders and files in a project that are this program's own state: the memory store with forgotten and masked content,
 * receipts, queues, runs and their locks. Operations show the parts that may be seen; as files they are never served.
 */
const OWN_STATE = /^\.(?:bmad-memory.*|receipts|tasks|runs)$/is;
const MEMORY_STATE = /^\.bmad-memory/i;

/** Whether a path, with either kind of slash, leads through this state or is part of it. */
export function isOwnState(path: string): boolean {
  // They all begin with a dot: most paths need not be taken apart.
  return /(?:^|[/\\])\./.test(path) && path.split(/[/\\]/).some((part) => OWN_STATE.test(part));
}

/** The same for the memory alone: artefacts of runs are work that others may read. */
export function isMemoryState(path: string): boolean {
  return path.split(/[/\\]/).some((part) => MEMORY_STATE.test(part));
}
