import type { Product } from './product.ts';

export interface Start {
  command: string;
  args: string[];
}

/** How npm's own runner starts this very version of the server. */
export function startCommand({ name, version }: Pick<Product, 'name' | 'version'>): Start {
  return { command: 'npx', args: ['-y', '--package', `${name}@${version}`, 'bmad-mcp-server'] };
}

/** Links that put the server into a host with one click. */
export function installLinks(product: Product): { cursor: string; vscode: string } {
  const start = startCommand(product);
  const config = Buffer.from(JSON.stringify(start)).toString('base64');
  return {
    cursor: `cursor://anysphere.cursor-deeplink/mcp/install?name=${encodeURIComponent(product.key)}&config=${encodeURIComponent(config)}`,
    vscode: `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: product.key, ...start }))}`,
  };
}

export function linksPage(product: Product): string {
  const { cursor, vscode } = installLinks(product);
  return `# Install with one click\n\n- [Cursor](${cursor})\n- [VS Code](${vscode})\n`;
}
