// Makes a clone ready to run: installs the dependencies and builds, each only when something changed since.
// Plain JavaScript without imports from npm, because it runs before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
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

function unless(stamp, wanted, make) {
  const file = join(root, stamp);
  if (existsSync(file) && readFileSync(file, 'utf8') === wanted) return;
  make();
  writeFileSync(file, wanted);
}

unless('node_modules/.ensured', digest(['package-lock.json']), () =>
  install(),
);
const sources = [
  'package.json',
  'package-lock.json',
  'scripts/build.ts',
  'scripts/sdk-shims.mjs',
  ...filesBelow('src'),
];
unless('dist/.ensured', digest(sources), () => npm('run', '--silent', 'build'));
