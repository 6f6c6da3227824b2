import { posix } from 'node:path';

/**
 * Files that tasks of version 4 name, as one of its templates would make them, and what the sections are called in its
 * other templates.
 */
const CALLED: ReadonlyMap<string, readonly string[]> = new Map([
  ['unified-project-structure', ['source-tree', 'project-structure']],
  ['testing-strategy', ['test-strategy-and-standards', 'testing-requirements']],
  ['coding-standards', ['frontend-developer-standards']],
  ['tech-stack', ['frontend-tech-stack']],
  ['rest-api-spec', ['api-specification', 'api-design-and-integration']],
  ['external-apis', ['external-api-integration']],
  ['data-models', ['data-models-and-schema-changes']],
  ['database-schema', ['data-models-and-schema-changes']],
  ['components', ['component-architecture']],
]);

const NAMED = /(?<![\w./{}-])((?:docs\/(?:architecture\/)?)?)([a-z][a-z-]*)\.md\b/g;

interface NamedPieces {
  /** Whether the text names pieces one by one. */
  some: boolean;
  /** Files as it names them, each with the place where it is instead. */
  instead: { written: string; path: string }[];
}

/** What a text of version 4 names of an architecture in pieces. */
export function namedPieces(
  text: string,
  pieces: readonly string[],
  has: (path: string) => boolean,
): NamedPieces {
  const known = new Map(pieces.map((path) => [posix.basename(path, '.md'), path]));
  const names = [...text.matchAll(NAMED)].filter(([, , stem = '']) => CALLED.has(stem));
  const found = new Map<string, { written: string; path: string }>();
  for (const [written, folder = '', stem = ''] of names) {
    const own = known.get(stem);
    // Without a folder, or in the right one, it is found.
    if (found.has(stem) || (own !== undefined && (folder === '' || own === written))) continue;
    const path = own ?? (CALLED.get(stem) ?? []).flatMap((name) => known.get(name) ?? [])[0];
    if (path !== undefined && (folder === '' || !has(written))) found.set(stem, { written, path });
  }
  // One name may be an example.
  const isSome = new Set(names.map(([, , stem]) => stem)).size > 1;
  return { some: isSome, instead: isSome ? [...found.values()] : [] };
}
