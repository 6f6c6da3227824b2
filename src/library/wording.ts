/** Hints name the next step as a call of the MCP tool; for a program the same step is a call of this library. */
export function inLibraryWords(text: string): string {
  return text
    .replace(/\{operation:"(\w+)"((?:, ?\w+:"[^"]*")*)\}/g, (_call, operation: string, rest: string) => {
      const args = new Map(
        [...rest.matchAll(/(\w+):"([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]),
      );
      const [first = ''] = args.values();
      if (operation === 'list') return LISTS[args.get('query') ?? ''] ?? 'listAgents()';
      if (operation === 'execute') return `activate(${written(first)})`;
      if (operation === 'read')
        return args.has('uri') ? `loadFile(${written(first)})` : `loadAgent(${written(first)})`;
      return `${operation}(${written(first)})`;
    })
    .replace(/; pattern:"[^"]*" narrows the list/g, '');
}

const LISTS: Partial<Record<string, string>> = {
  agents: 'listAgents()',
  workflows: 'listWorkflows()',
  resources: 'listAllFiles()',
};

function written(value: string): string {
  return value === '' ? '' : JSON.stringify(value);
}
