import type { BmadRecord } from '../../model/record.ts';

/** Rendered files live under this first path segment: `bmad://rendered/bmad-build/workflow.md`. */
export const RENDERED = 'rendered/';

export function skillFolder(record: BmadRecord): string {
  return record.bmadRelativePath.slice(0, record.bmadRelativePath.lastIndexOf('/'));
}
