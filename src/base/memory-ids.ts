const ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Whether a text is a memory id, and so not words to search for. */
export function isMemoryId(text: string): boolean {
  return ID.test(text.trim());
}
