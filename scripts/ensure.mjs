// Makes a clone ready to run: installs the dependencies and builds, each only when something changed since.
// Plain JavaScript without imports from npm, because it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

function digest(files) {
  const hash = createHash('sha256');
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex');
}

function filesBelow(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1))
    .sort();
}

/** stdout is kept free: it belongs to the protocol of what runs afterwards. */
function npm(...args) {
  const cli = process.env.npm_execpath;
  const [program, first] = cli === undefined ? ['npm', []] : [process.execPath, [cli]];
  const { status } = spawnSync(program, [...first, ...args], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}

/**
 * As the lock file says, without touching it. Not `npm ci`: that refuses a lock file which lacks the binaries of other
 * platforms, and a registry mirror that does not carry them makes such a lock file.
 */
function install() {
  npm('install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error');
}

/** What was done is remembered outside of what it made, so that no stamp ends up in a package. */
function unless(stamp, result, wanted, make) {
  const file = join(root, '.cache', stamp);
  if (existsSync(join(root, result)) && existsSync(file) && readFileSync(file, 'utf8') === wanted) return;
  make();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, wanted);
}

unless('installed', 'node_modules', digest(['package-lock.json']), install);
const sources = [
  'package.json',
  'package-lock.json',
  'scripts/build.ts',
  'scripts/bundle.ts',
  'scripts/sdk-shims.mjs',
  'scripts/module-state.ts',
  'assets/embedder.bin',
  'training/MODEL_CARD.md',
  ...filesBelow(join('scripts', 'supply')),
  ...filesBelow('src'),
];
unless('built', 'dist', digest(sources), () => npm('run', '--silent', 'build'));
