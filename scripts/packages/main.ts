import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { completionScript, SHELLS } from '../../src/surfaces/cli/completion.ts';
import { root } from '../bundle.ts';
import {
  claudePlugin,
  codexPlugin,
  desktopBundle,
  geminiExtension,
  llmsInstall,
  llmsText,
  registryEntry,
} from './others.ts';
import { asJson, type Files, linksPage, readProduct, serverFiles, zipped } from './product.ts';

/** Where all packages are made; not in git. */
const OUT = join(root, 'dist-packages');

async function write(folder: string, files: Files): Promise<void> {
  let bytes = 0;
  for (const [path, content] of files) {
    const file = join(OUT, folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    bytes += Buffer.byteLength(content);
  }
  const size = (bytes / 1e6).toFixed(2);
  process.stdout.write(`${(folder || '.').padEnd(18)}${String(files.size).padStart(5)} files  ${size} MB\n`);
}

const product = await readProduct();
const server = await serverFiles();
await rm(OUT, { recursive: true, force: true });
await write('claude-plugin', claudePlugin(product, server));
await write('codex-plugin', codexPlugin(product));
await write('gemini-extension', geminiExtension(product, server));
const desktop = await desktopBundle(product, server);
await write('mcpb', desktop);
await write(
  'completion',
  new Map(SHELLS.map((shell) => [`bmad.${shell}`, completionScript(shell)] as const)),
);
await write(
  '',
  new Map<string, string | Buffer>([
    [`${product.name}-${product.version}.mcpb`, zipped(desktop)],
    ['server.json', asJson(registryEntry(product))],
    ['install-links.md', linksPage(product)],
    ['Dockerfile', await readFile(join(root, 'deploy', 'Dockerfile'))],
    ['llms.txt', await llmsText(product)],
    ['llms-install.md', llmsInstall(product)],
  ]),
);
