import { mkdir, readFile, rename } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { repository } from './app.ts';

/** What a file says about its own place has to stay true in the bundle. */
const ownPlaces: Plugin = {
  name: 'own-places',
  setup(esbuild) {
    esbuild.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const url = JSON.stringify(pathToFileURL(path).href);
      return { contents: text.replaceAll('import.meta.url', url), loader: 'ts' };
    });
  },
};

const made = new Map<string, Promise<string>>();

/**
 * A program or module in TypeScript as one file that Node runs as it is. Tests start many of them, and compiling all
 * of their imports anew takes longer than most of what they do. It lies in the repository, where its packages are found.
 */
export function childProgram(file: string): Promise<string> {
  const path = join(repository, file);
  const known = made.get(path) ?? bundled(path);
  made.set(path, known);
  return known;
}

async function bundled(path: string): Promise<string> {
  const folder = join(repository, '.cache/programs');
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${relative(repository, path).replaceAll(/[\\/]/g, '-').slice(0, -3)}.mjs`);
  // Another worker may be starting the one that is there.
  const making = `${file}.${process.pid}`;
  await build({
    entryPoints: [path],
    outfile: making,
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    plugins: [ownPlaces],
    logLevel: 'error',
  });
  await rename(making, file);
  return file;
}
