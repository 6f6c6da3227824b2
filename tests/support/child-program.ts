import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';

const repository = fileURLToPath(new URL('../..', import.meta.url));

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

/** Packages with files of their own beside their code stay where they are. */
const ownFiles: Plugin = {
  name: 'own-files',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^(?:@photostructure\/sqlite|esbuild|vitest)$/ }, ({ path }) => ({
      path: import.meta.resolve(path),
      external: true,
    }));
  },
};

const made = new Map<string, Promise<string>>();

/**
 * A program or module in TypeScript as a file that Node runs as it is. Tests start many of them, and compiling all of
 * their imports anew takes longer than most of what they do; what it imports late is not even read before.
 */
export function childProgram(file: string): Promise<string> {
  const path = join(repository, file);
  const known = made.get(path) ?? bundled(path);
  made.set(path, known);
  return known;
}

async function bundled(path: string): Promise<string> {
  const { build } = await import('esbuild');
  const outdir = await mkdtemp(join(tmpdir(), 'bmad-program-'));
  await build({
    entryPoints: [path],
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // What packages of the old kind need.
    banner: {
      js: "import { createRequire as requiring } from 'node:module'; const require = requiring(import.meta['url']);",
    },
    plugins: [ownPlaces, ownFiles],
    logLevel: 'error',
  });
  return join(outdir, `${basename(path, '.ts')}.mjs`);
}
