import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../bundle.ts';
import { agentCall, geminiCommand } from '../../src/hosts/hosts.ts';
import { type Files, type Product, asJson, iconPng, inParts, startCommand } from './product.ts';

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
  for (const agent of product.agents) files.set(`commands/${key}/${agent.name}.toml`, geminiCommand(agent));
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

/** A marketplace with one plugin: slash commands for the agents, a small skill, the server and cases to evaluate it by. */
export function claudePlugin(product: Product, server: Files): Files {
  const { key, version, description, keywords, licence, title } = product;
  const author = { name: `${title} contributors` };
  const plugin = `plugins/${key}`;
  const files: Files = new Map<string, string | Buffer>([
    [
      '.claude-plugin/marketplace.json',
      asJson({
        name: product.name,
        owner: author,
        description: `${title}: ${product.short}`,
        plugins: [{ name: key, source: `./${plugin}`, description, version }],
      }),
    ],
    [
      `${plugin}/.claude-plugin/plugin.json`,
      asJson({ name: key, displayName: title, version, description, author, license: licence, keywords }),
    ],
    [
      `${plugin}/.mcp.json`,
      asJson({
        mcpServers: {
          [key]: { command: 'node', args: [`\${CLAUDE_PLUGIN_ROOT}/server/bmad-mcp-server.cjs`] },
        },
      }),
    ],
    [`${plugin}/README.md`, readme(product)],
    [`${plugin}/icon.png`, iconPng()],
    [`${plugin}/skills/${key}/SKILL.md`, skill(product)],
  ]);
  for (const agent of product.agents)
    files.set(
      `${plugin}/commands/${agent.name}.md`,
      `---\ndescription: Talk to ${agent.who} (BMAD)\nargument-hint: "[what you want]"\n---\n\n${agentCall(agent, '$ARGUMENTS')}\n`,
    );
  for (const [path, text] of evaluations()) files.set(`${plugin}/evals/${path}`, text);
  for (const [path, bytes] of server) files.set(`${plugin}/server/${path}`, bytes);
  return files;
}

interface Case {
  prompt: string;
  expects: string;
}

const CASES: Readonly<Record<string, Case>> = {
  'start-an-agent': {
    prompt: 'Let me talk to the architect of the BMad Method about caching.',
    expects:
      'The reply comes from Winston, the architect, in character, and is about caching. The tool bmad was called with the operation execute and the agent architect; nothing about the persona is made up.',
  },
  'start-a-workflow': {
    prompt: 'I want to write a PRD for a plant-watering app with BMAD.',
    expects:
      'The workflow prd was started through the tool bmad, and the reply follows it: it asks about the product, or names the path to take, instead of writing a whole PRD at once.',
  },
  'find-by-a-wish': {
    prompt: 'Which BMAD workflow designs the test strategy?',
    expects:
      'The reply names testarch-test-design of the module TEA, found with a search and not from memory.',
  },
};

function evaluations(): Files {
  const files: Files = new Map();
  for (const [name, { prompt, expects }] of Object.entries(CASES)) {
    files.set(
      `${name}/prompt.md`,
      `---\nmax_turns: 10\nallowed_tools: [Read, Glob, Grep, Skill, mcp__*]\n---\n\n${prompt}\n`,
    );
    files.set(`${name}/graders/criteria.md`, `---\ntype: llm\nweight: 1\n---\n\n${expects}\n`);
  }
  return files;
}

/** What a model has to know beforehand: little, since the server says the rest. */
function skill({ key }: Product): string {
  return `---
name: ${key}
description: Agents and workflows of the BMad Method. Use when the user names BMAD, one of its agents or workflows, or asks what comes next in a BMAD project.
---

The MCP server \`${key}\` has everything; its tool \`bmad\` takes an operation.

- \`{operation:"next"}\` says where the project stands and what comes next.
- \`{operation:"search", query:"…"}\` finds agents and workflows by a wish.
- \`{operation:"execute", agent:"…", message:"…"}\` or \`{operation:"execute", workflow:"…"}\` starts one: follow the answer.
- \`{operation:"list", query:"agents"}\` lists.
`;
}

function readme({ title, description, agents, version }: Product): string {
  return `# ${title} ${version}

${description}

Agents: ${agents.map(({ name, who }) => `\`${name}\` (${who})`).join(', ')}.

The server runs on this machine with Node and needs no network. It reads the project's own BMAD, if there is one, and serves what
is built in otherwise.
`;
}

const INDEX = [
  ['Use it', 'docs/guide/using.md'],
  ['Connect a host', 'docs/guide/hosts.md'],
  ['Settings', 'docs/guide/configuration.md'],
  ['Where content comes from, and what wins', 'docs/guide/sources-and-priority.md'],
  ['Memory', 'docs/guide/memory.md'],
  ['Runs of workflows', 'docs/guide/runs.md'],
  ['What comes next', 'docs/guide/next-step.md'],
  ['HTTP', 'docs/guide/http.md'],
  ['Tools', 'docs/reference/tools.md'],
  ['Command line', 'docs/reference/cli.md'],
  ['All settings', 'docs/reference/config.md'],
  ['Errors', 'docs/reference/errors.md'],
] as const;

/** The index of the documents for models: a title, a sentence, and a line for each page with its own first words. */
export async function llmsText({ title, description }: Product): Promise<string> {
  const lines: string[] = [];
  for (const [name, path] of INDEX) {
    const [heading = name] = (await readFile(join(root, path), 'utf8')).split('\n', 1);
    lines.push(`- [${name}](${path}): ${heading.replace(/^#\s*/, '')}`);
  }
  return `# ${title}\n\n> ${description}\n\n## Documents\n\n${lines.join('\n')}\n`;
}

/** For an agent that is asked to install it. */
export function llmsInstall(product: Product): string {
  const { title, key, node } = product;
  const command = startCommand(product);
  return `# Install ${title}

Needs Node ${node}. No key, no account, no configuration.

1. Add a server to the host's MCP configuration under the key \`${key}\`: command \`${command.command}\`, arguments \`${JSON.stringify(command.args)}\`, transport stdio.
2. Restart the host, or have it read its configuration again.
3. Check: the host lists a tool \`bmad\`. Call it with \`{"operation":"list","query":"agents"}\`; the answer names the agents.

From a clone: \`npm start\` builds it, and \`node dist/bmad.cjs setup\` connects the hosts on this machine and checks each.
Where a host needs the project folder, add the arguments \`--project <folder>\`.
`;
}

/** The bundle for Claude Desktop: no file in it is larger than Desktop takes. */
export async function desktopBundle(product: Product, server: Files): Promise<Files> {
  const { parts, digest } = inParts(server);
  const start = await readFile(join(root, 'scripts', 'packages', 'start.cjs'), 'utf8');
  const files: Files = new Map<string, string | Buffer>([
    ['manifest.json', asJson(manifestOf(product))],
    ['README.md', readme(product)],
    ['icon.png', iconPng()],
    ['server/start.cjs', start.replace('@digest@', digest)],
  ]);
  for (const [at, part] of parts.entries()) files.set(`server/parts/${String(at).padStart(4, '0')}`, part);
  return files;
}

function manifestOf({
  key,
  name,
  title,
  version,
  description,
  short,
  keywords,
  licence,
  node,
}: Product): object {
  return {
    manifest_version: '0.3',
    name,
    display_name: title,
    version,
    description: short,
    long_description: description,
    author: { name: `${title} contributors` },
    icon: 'icon.png',
    license: licence,
    keywords,
    server: {
      type: 'node',
      entry_point: 'server/start.cjs',
      mcp_config: {
        command: 'node',
        args: ['${__dirname}/server/start.cjs'],
        env: { BMAD_PROJECT_ROOT: '${user_config.project}' },
      },
    },
    tools: [{ name: key, description: 'List, find, explain, read and start BMAD agents and workflows.' }],
    tools_generated: true,
    prompts_generated: true,
    user_config: {
      project: {
        type: 'directory',
        title: 'Project folder',
        description: 'The folder of the project that BMAD works in.',
        required: false,
      },
    },
    compatibility: { platforms: ['darwin', 'win32', 'linux'], runtimes: { node } },
  };
}
