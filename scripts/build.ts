import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile, type Plugin } from 'esbuild';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const bmadPackage = dirname(createRequire(import.meta.url).resolve('bmad-method/package.json'));

/** The SDK's default validator is ajv, a third of the bundle and never used by us; its small one does as well. */
const leanValidator: Plugin = {
  name: 'lean-validator',
  setup({ onResolve }) {
    onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, () => ({
      path: join(root, 'scripts', 'sdk-shims.mjs'),
    }));
  },
};

async function bundle(): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['server', 'cli', 'bmad-mcp-server', 'bmad'].map((name) => ({
      in: `src/bin/${name}.ts`,
      out: name,
    })),
    outdir: dist,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    minify: true,
    metafile: true,
    platform: 'node',
    target: 'node20',
    // CommonJS starts faster than ES modules on every Node we support (docs/decisions/0003).
    format: 'cjs',
    define: { 'import.meta.url': '__bundleUrl' },
    banner: { js: 'const __bundleUrl=require("node:url").pathToFileURL(__filename).href;' },
    legalComments: 'none',
    plugins: [leanValidator],
    logLevel: 'warning',
  });
  return metafile;
}

/** BMAD's skills as its installer would lay them out, taken from the exact package; nothing of it is in git. */
async function copyContent(): Promise<void> {
  const content = join(dist, 'content');
  const wanted = (path: string): boolean =>
    !/(?:__pycache__|[\\/]tests(?:[\\/]|$)|\.pyc$)/.test(path.slice(bmadPackage.length));
  const parts = [
    ['src/core-skills', 'core'],
    ['src/bmm-skills', 'bmm'],
    ['src/scripts', 'scripts'],
    ['LICENSE', 'LICENSE'],
  ] as const;
  for (const [from, to] of parts)
    await cp(join(bmadPackage, from), join(content, to), { recursive: true, filter: wanted });
  const { version } = JSON.parse(await readFile(join(bmadPackage, 'package.json'), 'utf8')) as {
    version: string;
  };
  const modules = ['core', 'bmm']
    .map((name) => `  - name: ${name}\n    version: ${version}\n    source: built-in\n`)
    .join('');
  await mkdir(join(content, '_config'), { recursive: true });
  await writeFile(
    join(content, '_config', 'manifest.yaml'),
    `installation:\n  version: ${version}\nmodules:\n${modules}`,
  );
}

/** The licences of everything that ended up in the bundles. */
async function writeLicences(metafile: Metafile): Promise<void> {
  const packages = new Set<string>();
  for (const input of Object.keys(metafile.inputs)) {
    const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
    if (name !== undefined) packages.add(name);
  }
  const texts: string[] = [];
  for (const name of [...packages].sort()) {
    const folder = join(root, 'node_modules', name);
    const { version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      version: string;
      license: string;
    };
    texts.push(`${name} ${version} (${license})\n\n${await licenceText(folder)}`);
  }
  await writeFile(join(dist, 'THIRD_PARTY_LICENSES.txt'), texts.join(`\n\n${'-'.repeat(80)}\n\n`));
}

async function licenceText(folder: string): Promise<string> {
  for (const file of ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license']) {
    try {
      return (await readFile(join(folder, file), 'utf8')).trim();
    } catch {
      // The next spelling may be the one.
    }
  }
  return 'The package names this licence in its package.json and ships no text of it.';
}

await rm(dist, { recursive: true, force: true });
await writeLicences(await bundle().then(async (metafile) => (await copyContent(), metafile)));
