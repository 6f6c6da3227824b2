import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../bundle.ts';
import { type Files, type Product, asJson, iconPng, inParts } from './product.ts';
import { readme } from './others.ts';

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
