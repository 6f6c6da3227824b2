/** What a grammar calls the things worth finding. */
export interface Definitions {
  /** File of the grammar. */
  grammar: string;
  /** Node types, or whole patterns, by the kind that answers show. */
  kinds: Readonly<Record<string, readonly string[]>>;
}

/** Kinds that contain others: their members are separate pieces. */
export const CONTAINERS = new Set(['class', 'interface', 'module', 'trait', 'struct']);

const FUNCTION_VALUE = '[(arrow_function) (function_expression)]';

const SCRIPT: Definitions['kinds'] = {
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

const TYPED: Definitions['kinds'] = {
  ...SCRIPT,
  class: ['class_declaration', 'abstract_class_declaration'],
  method: ['method_definition', `(public_field_definition value: ${FUNCTION_VALUE}) @method`],
  interface: ['interface_declaration'],
  type: ['type_alias_declaration', 'enum_declaration'],
  module: ['internal_module'],
};

const C_LIKE: Definitions['kinds'] = {
  function: ['function_definition'],
  class: ['class_specifier'],
  struct: ['(struct_specifier body: (_)) @struct'],
  type: ['(enum_specifier body: (_)) @type', 'type_definition'],
  module: ['namespace_definition'],
};

/** By language; `tsx` is listed separately because the file's extension selects it. */
const DEFINITIONS: Readonly<Record<string, Definitions>> = {
  typescript: { grammar: 'typescript', kinds: TYPED },
  tsx: { grammar: 'tsx', kinds: TYPED },
  javascript: { grammar: 'javascript', kinds: SCRIPT },
  python: {
    grammar: 'python',
    kinds: { function: ['function_definition'], class: ['class_definition'] },
  },
  go: {
    grammar: 'go',
    kinds: {
      function: ['function_declaration'],
      method: ['method_declaration'],
      type: ['type_declaration'],
    },
  },
  rust: {
    grammar: 'rust',
    kinds: {
      function: ['function_item', 'macro_definition'],
      struct: ['struct_item', 'impl_item'],
      type: ['enum_item', 'type_item'],
      trait: ['trait_item'],
      module: ['(mod_item body: (_)) @module'],
    },
  },
  java: {
    grammar: 'java',
    kinds: {
      method: ['method_declaration', 'constructor_declaration'],
      class: ['class_declaration', 'record_declaration'],
      interface: ['interface_declaration'],
      type: ['enum_declaration'],
    },
  },
  csharp: {
    grammar: 'c-sharp',
    kinds: {
      method: ['method_declaration', 'constructor_declaration', 'local_function_statement'],
      class: ['class_declaration', 'record_declaration'],
      struct: ['struct_declaration'],
      interface: ['interface_declaration'],
      type: ['enum_declaration'],
      module: ['namespace_declaration'],
    },
  },
  cpp: { grammar: 'cpp', kinds: C_LIKE },
  c: { grammar: 'cpp', kinds: C_LIKE },
  php: {
    grammar: 'php',
    kinds: {
      function: ['function_definition'],
      method: ['method_declaration'],
      class: ['class_declaration', 'enum_declaration'],
      interface: ['interface_declaration'],
      trait: ['trait_declaration'],
    },
  },
  ruby: {
    grammar: 'ruby',
    kinds: { method: ['method', 'singleton_method'], class: ['class'], module: ['module'] },
  },
  shell: { grammar: 'bash', kinds: { function: ['function_definition'] } },
  powershell: {
    grammar: 'powershell',
    kinds: {
      function: ['function_statement'],
      class: ['class_statement'],
      method: ['class_method_definition'],
    },
  },
};

export function definitionsFor(language: string, path: string): Definitions | undefined {
  return DEFINITIONS[/\.[tj]sx$/i.test(path) && language === 'typescript' ? 'tsx' : language];
}

/** All kinds as one query: a bare node type is captured under the name of its kind. */
export function queryText({ kinds }: Definitions): string {
  return Object.entries(kinds)
    .flatMap(([kind, patterns]) =>
      patterns.map((pattern) => (pattern.startsWith('(') ? pattern : `(${pattern}) @${kind}`)),
    )
    .join('\n');
}
