import { present } from '../../base/present.ts';
import type { Deprecation, Problem } from '../../model/record.ts';
import type { Tree } from '../../sources/tree.ts';
import { readable } from '../reading.ts';

/** What each old id forwards to, from the table in a shim folder's README. */
export type Shims = Map<string, Deprecation>;

export async function readShims(
  tree: Tree,
  folder: string,
  shims: Shims,
  problems: Problem[],
): Promise<void> {
  const file = `${folder}/README.md`;
  for (const line of ((await readable(tree, file, problems)) ?? '').split('\n')) {
    const row = /^\|\s*`([\w-]+)`\s*\|\s*(?:`([\w-]+)`)?\s*(?:\(([^)|]{1,80})\))?/.exec(line);
    if (row?.[1] !== undefined) shims.set(row[1], deprecation(row[2], row[3]));
  }
}

/** Shims outside such a folder say it in their description: "forwards to bmad-project-context". */
export function deprecationFromDescription(description: string): Deprecation {
  const forwards = /forwards to `?([\w-]+)`?(?:\s*\(([^)]{1,80})\))?/i.exec(description);
  return deprecation(forwards?.[1], forwards?.[2]);
}

function deprecation(successor: string | undefined, intent: string | undefined): Deprecation {
  return present<Deprecation>({ successor, intent });
}
