import type { Language, Node, Parser, Query } from 'web-tree-sitter';
import { optionalFile, optionalPackage } from '../../base/process/optional-packages.ts';
import { definitionsFor, queryText, type Definitions } from './definitions.ts';

/** A function, class or the like, by lines counted from 0, both included. */
export interface Definition {
  kind: string;
  name: string;
  start: number;
  end: number;
}

export type Grammars = ReturnType<typeof createGrammars>;

/** A parser holds up everything else while it works, so that what takes too long is cut into windows instead. */
const LARGEST_PARSED = 300_000;
const LONGEST_PARSE_MS = 1_500;

interface Prepared {
  parser: Parser;
  query: Query;
}

/** Finds the definitions in a file; nothing when its language has no grammar or the text is too much for it. */
export function createGrammars(wanted = true) {
  const tools = wanted ? optionalPackage<typeof import('web-tree-sitter')>('web-tree-sitter') : undefined;
  const available =
    tools !== undefined &&
    optionalFile('@vscode/tree-sitter-wasm/wasm/tree-sitter-typescript.wasm') !== undefined;
  let started: Promise<void> | undefined;
  const prepared = new Map<string, Promise<Prepared | undefined>>();

  async function prepare(definitions: Definitions): Promise<Prepared | undefined> {
    const file = optionalFile(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${definitions.grammar}.wasm`);
    if (tools === undefined || file === undefined) return undefined;
    try {
      started ??= tools.Parser.init();
      await started;
      const language: Language = await tools.Language.load(file);
      const parser = new tools.Parser();
      parser.setLanguage(language);
      return { parser, query: new tools.Query(language, queryText(definitions)) };
    } catch {
      // A grammar that does not fit the parser counts as missing.
      return undefined;
    }
  }

  return {
    /** Whether there is anything to parse with. */
    available,
    covers: (language: string, path: string): boolean =>
      available && definitionsFor(language, path) !== undefined,
    async definitions(language: string, path: string, text: string): Promise<Definition[] | undefined> {
      const definitions = definitionsFor(language, path);
      if (!available || definitions === undefined || text.length > LARGEST_PARSED) return undefined;
      const ready = prepared.get(definitions.grammar) ?? prepare(definitions);
      prepared.set(definitions.grammar, ready);
      const tool = await ready;
      return tool === undefined ? undefined : definitionsIn(tool, text);
    },
  };
}

function definitionsIn({ parser, query }: Prepared, text: string): Definition[] | undefined {
  const deadline = performance.now() + LONGEST_PARSE_MS;
  const late = (): boolean => performance.now() > deadline;
  try {
    const tree = parser.parse(text, null, { progressCallback: late });
    if (tree === null) {
      parser.reset();
      return undefined;
    }
    try {
      // Not `captures`, which also gives those of patterns that match in part only.
      const found = query.matches(tree.rootNode, { progressCallback: late });
      return found
        .flatMap(({ captures }) => captures)
        .map(({ name: kind, node }) => ({
          kind,
          name: nameOf(node),
          start: node.startPosition.row,
          end: node.endPosition.row,
        }));
    } finally {
      tree.delete();
    }
  } catch {
    parser.reset();
    return undefined;
  }
}

const LONGEST_NAME = 80;

/** Where grammars keep the name differs; most have a field of that name, somewhere on the way down. */
function nameOf(node: Node): string {
  for (const field of ['name', 'key', 'left', 'declarator', 'type'] as const) {
    const named = node.childForFieldName(field);
    if (named === null) continue;
    return field === 'declarator' && named.childForFieldName(field) !== null
      ? nameOf(named)
      : shortName(named.text);
  }
  for (const child of node.namedChildren) {
    if (/(?:declarator|spec|function_name|simple_name)$/.test(child.type))
      return child.childForFieldName('name') === null ? shortName(child.text) : nameOf(child);
  }
  return node.type.includes('identifier') ? shortName(node.text) : '';
}

function shortName(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > LONGEST_NAME ? '' : line.replace(/^["'`]|["'`]$/g, '');
}
