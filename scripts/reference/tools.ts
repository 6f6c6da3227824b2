import { estimateTokens, plural } from '../../src/base/text.ts';
import { operations } from '../../src/operations/index.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { toolList } from '../../src/surfaces/mcp/tools.ts';
import { code, propertiesOf, shape, table, type Property } from './markdown.ts';

export function toolsPage(): string[] {
  const tools = operations.filter(({ toolset }) => toolset !== undefined);
  const tokens = estimateTokens(JSON.stringify({ tools: toolList() }));
  return [
    '# Tools',
    '',
    `${plural(tools.length, 'tool')}; the whole answer to \`tools/list\` is about ${tokens} tokens (bytes / 4).`,
    'An argument that is not in the table is refused.',
    ...tools.flatMap((tool) => ['', ...section(tool)]),
  ];
}

function section(tool: AnyOperation): string[] {
  const properties = propertiesOf(tool);
  return [
    `## \`${tool.name}\`: ${tool.title}`,
    '',
    tool.description,
    '',
    `Toolset \`${tool.toolset ?? ''}\`, effect \`${tool.effect}\`.`,
    '',
    ...table(
      ['argument', 'type', 'meaning'],
      properties.map(([name, property]) => [code(name), shape(property), meaningOf(name, property)]),
    ),
    ...routedOperations(properties),
  ];
}

/** A tool that hands over to other operations names them in its `operation` argument. */
function routedOperations(properties: readonly [string, Property][]): string[] {
  const names = properties.find(([name]) => name === 'operation')?.[1].enum ?? [];
  const rows = names.flatMap((name) =>
    operations
      .filter((operation) => operation.name === name)
      .map(({ title, description }) => [code(name), title, description]),
  );
  return rows.length === 0 ? [] : ['', ...table(['operation', 'title', 'what it does'], rows)];
}

/** The unified tool leaves some words to the operations behind it, to keep its schema small. */
function meaningOf(name: string, { description }: Property): string {
  if (description !== undefined) return description;
  const shared = operations.flatMap((operation) => propertiesOf(operation));
  const described = shared.find(([other, property]) => other === name && property.description !== undefined);
  return described?.[1].description ?? (name === 'operation' ? 'See the table below' : '');
}
