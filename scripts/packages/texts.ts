import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../bundle.ts';
import { type Product, startCommand } from './product.ts';

/** What a model has to know beforehand: little, since the server says the rest. */
export function skill({ key }: Product): string {
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

export function readme({ title, description, agents, version }: Product): string {
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
