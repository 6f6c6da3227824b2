/** What a grammar calls the things worth finding: node types, or whole patterns, by the kind that answers show. */
type Kinds = Readonly<Record<string, readonly string[]>>;

export interface Definitions {
  /** File of the grammar. */
  grammar: string;
  kinds: Kinds;
}

/** Kinds that contain others: their members are separate pieces. */
export const CONTAINERS = new Set(['class', 'interface', 'module', 'trait', 'struct']);

const FUNCTION_VALUE = '[(arrow_function) (function_expression)]';

const SCRIPT: Kinds = {
  function: [
    'function_declaration',
    'generator_function_declaration',
    `(lexical_declaration (variable_declarator value: ${FUNCTION_VALUE})) @function`,
    `(variable_declaration (variable_declarator value: ${FUNCTION_VALUE})) @function`,
    `(assignment_expression right: ${FUNCTION_VALUE}) @function`,
    `(pair value: ${FUNCTION_VALUE}) @function`,
  ],
  method: ['method_definition'],
  class: ['class_declaration'],
  constant: [
    '(program (lexical_declaration) @constant)',
    '(program (export_statement (lexical_declaration) @constant))',
  ],
};

const TYPED: Kinds = {
  ...SCRIPT,
  class: ['class_declaration', 'abstract_class_declaration'],
  method: ['method_definition', `(public_field_definition value: ${FUNCTION_VALUE}) @method`],
  interface: ['interface_declaration'],
  type: ['type_alias_declaration', 'enum_declaration'],
  module: ['internal_module'],
};

const C_LIKE: Kinds = {
  function: ['function_definition'],
  class: ['class_specifier'],
  struct: ['(struct_specifier body: (_)) @struct'],
  type: ['(enum_specifier body: (_)) @type', 'type_definition'],
  module: ['namespace_definition'],
};

/** By language; `tsx` is listed separately because the file's extension selects it. */
const KINDS: Readonly<Record<string, Kinds>> = {
  typescript: TYPED,
  tsx: TYPED,
  javascript: SCRIPT,
  python: { function: ['function_definition'], class: ['class_definition'] },
  go: { function: ['function_declaration'], method: ['method_declaration'], type: ['type_declaration'] },
  rust: {
    function: ['function_item', 'macro_definition'],
    struct: ['struct_item', 'impl_item'],
    type: ['enum_item', 'type_item'],
    trait: ['trait_item'],
    module: ['(mod_item body: (_)) @module'],
  },
  java: {
    method: ['method_declaration', 'constructor_declaration'],
    class: ['class_declaration', 'record_declaration'],
    interface: ['interface_declaration'],
    type: ['enum_declaration'],
  },
  csharp: {
    method: ['method_declaration', 'constructor_declaration', 'local_function_statement'],
    class: ['class_declaration', 'record_declaration'],
    struct: ['struct_declaration'],
    interface: ['interface_declaration'],
    type: ['enum_declaration'],
    module: ['namespace_declaration'],
  },
  cpp: C_LIKE,
  c: C_LIKE,
  php: {
    function: ['function_definition'],
    method: ['method_declaration'],
    class: ['class_declaration', 'enum_declaration'],
    interface: ['interface_declaration'],
    trait: ['trait_declaration'],
  },
  ruby: { method: ['method', 'singleton_method'], class: ['class'], module: ['module'] },
  shell: { function: ['function_definition'] },
  powershell: {
    function: ['function_statement'],
    class: ['class_statement'],
    method: ['class_method_definition'],
  },
};

/** Grammars that are not called like their language. */
const GRAMMARS: Readonly<Record<string, string>> = { csharp: 'c-sharp', c: 'cpp', shell: 'bash' };

export function definitionsFor(language: string, path: string): Definitions | undefined {
  const key = /\.[tj]sx$/i.test(path) && language === 'typescript' ? 'tsx' : language;
  const kinds = KINDS[key];
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
