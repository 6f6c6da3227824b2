// Makes a clone ready to run: installs the dependencies and builds, each only when something changed since.
// Plain JavaScript without imports from npm, because it runs before anything is installed.
import { spawn } from 'node:child_process';
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

const { stderr } = process;
const EVERY_MS = 1_000;

function seconds(began) {
  return `${((performance.now() - began) / 1_000).toFixed(1)} s`;
}

/** Says what is being done, how long it takes, and how long it took; in a terminal in one line that changes. */
async function step(doing, done, work) {
  const began = performance.now();
  const live = stderr.isTTY && process.env.TERM !== 'dumb';
  const show = () => stderr.write(`\r\u001B[2K${doing} … ${seconds(began)}`);
  if (live) show();
  else stderr.write(`${doing} …\n`);
  const timer = live ? setInterval(show, EVERY_MS) : undefined;
  const { status, said } = await work();
  clearInterval(timer);
  if (live) stderr.write('\r\u001B[2K');
  if (said !== '') stderr.write(said);
  if (status !== 0) {
    stderr.write(`${doing}: failed after ${seconds(began)}\n`);
    process.exit(status);
  }
  stderr.write(`${done} in ${seconds(began)}\n`);
}

/** stdout is kept free: it belongs to the protocol of what runs afterwards. What npm says comes when it has ended. */
function npm(...args) {
  const cli = process.env.npm_execpath;
  const [program, first] = cli === undefined ? ['npm', []] : [process.execPath, [cli]];
  return new Promise((resolved) => {
    const child = spawn(program, [...first, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (said += text));
    child.once('error', (error) => resolved({ status: 1, said: `${error.message}\n` }));
    // Ended by a signal: Ctrl+C reaches all of them, and this program has nothing of its own to undo.
    child.once('close', (status, signal) =>
      resolved({ status: signal === null ? (status ?? 1) : 130, said }),
    );
  });
}

/**
 * As the lock file says, without touching it. Not `npm ci`: that refuses a lock file which lacks the binaries of other
 * platforms, and a registry mirror that does not carry them makes such a lock file.
 */
function install() {
  return npm('install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error');
}

/** What was done is remembered outside of what it made, so that no stamp ends up in a package. */
async function unless(stamp, result, wanted, make) {
  const file = join(root, '.cache', stamp);
  if (existsSync(join(root, result)) && existsSync(file) && readFileSync(file, 'utf8') === wanted) return;
  await make();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, wanted);
}

await unless('installed', 'node_modules', digest(['package-lock.json']), () =>
  step('Installing the packages of package-lock.json', 'Packages installed', install),
);
const sources = [
  'package.json',
  'package-lock.json',
  'scripts/build.ts',
  'scripts/built-in-modules.ts',
  'scripts/bundle.ts',
  'scripts/first-answers.ts',
  'scripts/sdk-shims.mjs',
  'scripts/module-state.ts',
  'training/MODEL_CARD.md',
  ...filesBelow(join('scripts', 'supply')),
  ...filesBelow('assets'),
  ...filesBelow('src'),
];
await unless('built', 'dist', digest(sources), () =>
  step('Building the programs and their content', 'Built', () => npm('run', '--silent', 'build')),
);
