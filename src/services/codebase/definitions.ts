import table from '../../../assets/code/definitions.json' with { type: 'json' };

/** What a grammar calls the things worth finding: node types, or whole patterns, by the kind that answers show. */
type Kinds = Readonly<Record<string, readonly string[]>>;

export interface Definitions {
  /** File of the grammar. */
  grammar: string;
  kinds: Kinds;
}

/** Kinds that contain others: their members are separate pieces. */
export const CONTAINERS = new Set(['class', 'interface', 'module', 'trait', 'struct']);

/** By language; `tsx` is a language here because the file's extension selects its grammar. */
const KINDS: Readonly<Record<string, Kinds>> = table.kinds;

/** Languages whose definitions are those of another. */
const SAME_AS: Readonly<Record<string, string>> = table.as;

/** Grammars that are not called like their language. */
const GRAMMARS: Readonly<Record<string, string>> = table.grammars;

export function definitionsFor(language: string, path: string): Definitions | undefined {
  const key = /\.[tj]sx$/i.test(path) && language === 'typescript' ? 'tsx' : language;
  const kinds = KINDS[SAME_AS[key] ?? key];
  return kinds === undefined ? undefined : { grammar: GRAMMARS[key] ?? key, kinds };
}

/** All kinds as one query: a bare node type is captured under the name of its kind. */
export function queryText({ kinds }: Definitions): string {
  return Object.entries(kinds)
    .flatMap(([kind, patterns]) =>
      patterns.map((pattern) => (pattern.startsWith('(') ? pattern : `(${pattern}) @${kind}`)),
    )
    .join('\n');
}
