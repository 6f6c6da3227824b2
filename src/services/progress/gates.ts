import { posix } from 'node:path';
import { attempt, orElse } from '../../base/expected.ts';
import { parseYaml, tableOf, textField } from '../../base/parse/parse.ts';
import type { ProjectFiles } from './project-files.ts';

/** What QA of version 4 has decided about a story. */
export interface Gate {
  file: string;
  line: number;
  gate: string;
  /** Its story was changed after it was written. */
  outdated: boolean;
}

/** A checkout or a copy writes files this near to each other; their times say nothing about which came first. */
const ONE_GO_MS = 2_000;

/** The gates of a folder, by the number of their story. */
export async function readGates(
  files: ProjectFiles,
  folder: string,
  storyOf: (key: string) => string | undefined,
): Promise<Map<string, Gate>> {
  const gates = new Map<string, Gate>();
  for (const file of await files.below(folder, 1)) {
    const [, epic, story] = /^(\d{1,6})\.(\d{1,6})\b.*\.ya?ml$/i.exec(posix.basename(file)) ?? [];
    const read = epic === undefined ? undefined : await files.read(file);
    if (read === undefined || 'trouble' in read) continue;
    const { text } = read;
    const table = tableOf(attempt(() => parseYaml(file, text), orElse(undefined)));
    const gate = textField(table, 'gate')?.toUpperCase();
    if (gate === undefined) continue;
    const line = text.split('\n').findIndex((each) => /^gate\s*:/.test(each)) + 1;
    const key = `${Number(epic)}.${Number(story)}`;
    const outdated = await isOutdated(
      files,
      file,
      Date.parse(textField(table, 'updated') ?? ''),
      storyOf(key),
    );
    gates.set(key, { file, line: line || 1, gate, outdated });
  }
  return gates;
}

/**
 * By the times of the files: a review writes into the story first and its gate last, and models make up the time that
 * they put into the gate. That counts only where the times of the files cannot tell.
 */
async function isOutdated(
  files: ProjectFiles,
  gate: string,
  updated: number,
  story: string | undefined,
): Promise<boolean> {
  if (story === undefined) return false;
  const [changed, written] = await Promise.all([files.changedAt(story), files.changedAt(gate)]);
  if (changed === undefined || written === undefined) return false;
  return Math.abs(changed - written) > ONE_GO_MS ? changed > written : changed > updated;
}
