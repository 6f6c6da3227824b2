import { startCommand } from './links.ts';
import { asJson, startOf, type Files, type Product } from './product.ts';
import { readme, skill } from './texts.ts';

/** A marketplace of Codex with one plugin: a skill and the server, which npm's runner starts. */
export function codexPlugin(product: Product): Files {
  const { key, version, description, title } = product;
  const plugin = `plugins/${key}`;
  return new Map([
    [
      '.agents/plugins/marketplace.json',
      asJson({
        name: product.name,
        interface: { displayName: title },
        plugins: [
          {
            name: key,
            source: { source: 'local', path: `./${plugin}` },
            policy: { installation: 'AVAILABLE', authentication: 'ON_INSTALL' },
            category: 'Productivity',
          },
        ],
      }),
    ],
    [
      `${plugin}/.codex-plugin/plugin.json`,
      asJson({
        name: key,
        version,
        description,
        skills: './skills/',
        mcpServers: './.mcp.json',
        interface: { displayName: title, shortDescription: product.short },
      }),
    ],
    [`${plugin}/.mcp.json`, asJson({ mcpServers: { [key]: startCommand(product) } })],
    [`${plugin}/skills/${key}/SKILL.md`, skill(product)],
    [`${plugin}/README.md`, readme(product)],
  ]);
}

/** An extension of the Gemini CLI: the agents are commands, and the server is in it. */
export function geminiExtension(product: Product, server: Files): Files {
  const { key, version, description } = product;
  const files: Files = new Map([
    [
      'gemini-extension.json',
      asJson({
        name: key,
        version,
        description,
        contextFileName: 'GEMINI.md',
        mcpServers: {
          [key]: { command: 'node', args: ['${extensionPath}${/}server${/}bmad-mcp-server.cjs'] },
        },
      }),
    ],
    ['GEMINI.md', skill(product).replace(/^---\n[\s\S]*?\n---\n\n/, `# BMAD\n\n`)],
    ['README.md', readme(product)],
  ]);
  for (const agent of product.agents)
    files.set(
      `commands/${key}/${agent.name}.toml`,
      `description = ${JSON.stringify(`Talk to ${agent.who} (BMAD)`)}\nprompt = ${JSON.stringify(startOf(agent, '{{args}}'))}\n`,
    );
  for (const [path, bytes] of server) files.set(`server/${path}`, bytes);
  return files;
}

/** The entry for the MCP registry; the schema that it is checked against is `deploy/server.schema.json`. */
export function registryEntry({ name, registryName, version, short, title }: Product): object {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: registryName,
    title,
    description: short,
    version,
    packages: [
      {
        registryType: 'npm',
        identifier: name,
        version,
        runtimeHint: 'npx',
        transport: { type: 'stdio' },
      },
    ],
  };
}
