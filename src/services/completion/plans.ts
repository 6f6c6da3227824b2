import { dirname, join, posix } from 'node:path';
import { jsonObject } from '../../base/parse/json.ts';
import type { KitStack, ListedPath } from '../../kit/stacks.ts';

function orLack(stack: KitStack, commands: PlannedCommand[], what: string): StackPlan {
  return { commands, lacks: commands.some(({ advisory }) => advisory !== true) ? [] : [{ stack, what }] };
}

/** What a command lacks whose output matches. */
function lackIf(said: RegExp, what: string): NonNullable<PlannedCommand['missing']> {
  return (_code, output) => (said.test(output) ? what : undefined);
}

/** Modules and toolchains that are not there would be fetched. */
const GO_OFFLINE = { GOPROXY: 'off', GOTOOLCHAIN: 'local' };

const planGo: Planner = async (around) => {
  const missing = lackIf(
    /module lookup disabled by GOPROXY=off|toolchain not available/,
    'Modules or the toolchain are missing: run "go mod download" first.',
  );
  const go = (...args: string[]) => ({ name: 'go', args, env: GO_OFFLINE, missing });
  return orLack(
    'go',
    await installed(around, 'go', [go('build', './...'), go('vet', './...'), go('test', './...')]),
    'go is not installed.',
  );
};

/** What Python compiles would be new files in the project. */
const NO_BYTECODE = { PYTHONDONTWRITEBYTECODE: '1' };

const planPython: Planner = async (around) => {
  const missing = (code: number): string | undefined => (code === 5 ? 'pytest found no tests.' : undefined);
  const own = (
    await Promise.all(
      ['.venv/bin', 'venv/bin', '.venv/Scripts', 'venv/Scripts'].flatMap((folder) =>
        [`${folder}/pytest`, `${folder}/pytest.exe`].map((path) => around.upwards(path)),
      ),
    )
  ).find((place) => place !== undefined);
  const args = ['--tb=short'];
  const tests: PlannedCommand[] =
    own === undefined
      ? await installed(around, 'python', [{ name: 'pytest', args, missing, env: NO_BYTECODE }])
      : [{ stack: 'python', shown: 'pytest --tb=short', program: own, args, missing, env: NO_BYTECODE }];
  const lint = await installed(around, 'python', [
    { name: 'ruff', args: ['check', '.'], advisory: true },
    { name: 'mypy', args: ['.', '--ignore-missing-imports'], advisory: true },
  ]);
  return orLack('python', [...tests, ...lint], 'pytest is neither in .venv nor on the PATH.');
};

const planTerraform: Planner = async (around) => {
  const files = around.listing
    .filter(({ path }) => path.endsWith('.tf'))
    .map(({ path }) => posix.dirname(path));
  const folder = files.sort()[0] ?? '.';
  const missing = lackIf(/terraform init/, 'Providers or modules are missing: run "terraform init" first.');
  const commands = await installed(around, 'terraform', [
    { name: 'terraform', args: ['validate', '-no-color'], folder, missing },
    { name: 'terraform', args: ['fmt', '-check', '-recursive', '-no-color'], advisory: true },
    { name: 'tflint', args: [], folder },
  ]);
  const validates = commands.some(({ args }) => args[0] === 'validate');
  return { commands, lacks: validates ? [] : [{ stack: 'terraform', what: 'terraform is not installed.' }] };
};

const planAnsible: Planner = async (around) => {
  const folder = has(around, /^ansible$/) ? 'ansible' : '.';
  const commands = await installed(around, 'ansible', [
    { name: 'ansible-lint', args: ['--offline'] },
    { name: 'yamllint', args: [folder] },
  ]);
  return orLack('ansible', commands, 'Neither ansible-lint nor yamllint is installed.');
};

/** Quiet, because the configuration it prints holds the values of variables. `build --check` would ask a registry. */
const planDocker: Planner = async (around) => {
  if (!has(around, /^(?:docker-)?compose\.ya?ml$/)) return { commands: [], lacks: [] };
  const commands = await installed(around, 'docker', [
    { name: 'docker', args: ['compose', 'config', '--quiet'] },
  ]);
  return orLack('docker', commands, 'docker is not installed.');
};

const planKubernetes: Planner = async (around) => {
  const missing = lackIf(
    /connection refused|no such host|unable to connect|server could not find|was refused|i\/o timeout/i,
    'kubectl cannot reach a cluster, which it needs to check the kinds of objects.',
  );
  const commands = await installed(around, 'kubernetes', [
    { name: 'kubectl', args: ['apply', '--dry-run=client', '-R', '-f', 'k8s'], missing },
  ]);
  return orLack('kubernetes', commands, 'kubectl is not installed.');
};

const planShell: Planner = async (around) => {
  const scripts = around.listing.map(({ path }) => path).filter((path) => /^[^/]+\.sh$/.test(path));
  const args = scripts.map((path) => `./${path}`);
  return {
    commands: await installed(around, 'shell', [{ name: 'shellcheck', args, advisory: true }]),
    lacks: [],
  };
};

/** A program with its arguments, as the built-in contract runs it. */
export interface PlannedCommand {
  stack: KitStack;
  /** As a person would type it. */
  shown: string;
  program: string;
  args: readonly string[];
  /** Below the folder that is verified. */
  folder?: string;
  /** Its failure is told and does not count. */
  advisory?: true;
  env?: Readonly<Record<string, string>>;
  /** What is missing when it ends this way: then it has verified nothing, instead of having failed. */
  missing?(code: number, output: string): string | undefined;
}

/** Something without which a stack cannot be verified, and what to do about it. */
export interface Lack {
  stack: KitStack;
  what: string;
  /** Its command ran and found no tests. */
  untested?: true;
}

interface StackPlan {
  commands: PlannedCommand[];
  lacks: Lack[];
}

/** What the plans may ask about the folder and the machine. */
export interface Surroundings {
  listing: readonly ListedPath[];
  /** The text of a file of the folder; nothing when it is not there. */
  text(path: string): Promise<string | undefined>;
  /** The place of a program on the PATH. */
  program(name: string): Promise<string | undefined>;
  /** A file in the folder or in one above it, up to the project's top: its absolute path. */
  upwards(path: string): Promise<string | undefined>;
  /** The Node that runs npm and the tools of a project. */
  node: string;
  platform: NodeJS.Platform;
}

type Planner = (around: Surroundings) => Promise<StackPlan>;

const has = ({ listing }: Surroundings, pattern: RegExp): boolean =>
  listing.some(({ path }) => pattern.test(path));

/** Commands of one stack, of which those whose program is missing are left out. */
async function installed(
  { program }: Surroundings,
  stack: KitStack,
  wanted: readonly (Omit<PlannedCommand, 'stack' | 'program' | 'shown'> & { name: string })[],
): Promise<PlannedCommand[]> {
  const found: PlannedCommand[] = [];
  for (const { name, ...rest } of wanted) {
    const place = await program(name);
    if (place !== undefined)
      found.push({ stack, program: place, shown: [name, ...rest.args].join(' '), ...rest });
  }
  return found;
}

const stack = 'typescript' as const;

/** The lock file that is named last wins, as in the kit's script. */
const MANAGERS = [
  { name: 'npm', lock: /^package-lock\.json$/ },
  { name: 'pnpm', lock: /^pnpm-lock\.yaml$/ },
  { name: 'yarn', lock: /^yarn\.lock$/ },
  { name: 'bun', lock: /^bun\.lockb?$/ },
];

/** What `npm init` writes: it says that there are no tests. */
const NO_TESTS = /no test specified/;

/** A tool that is not there would be fetched by its package manager; nothing is to be fetched. */
const OFFLINE = {
  npm_config_update_notifier: 'false',
  npm_config_offline: 'true',
  COREPACK_ENABLE_NETWORK: '0',
};

/**
 * Types and tests. Compilers and test runners are started from the project's own node_modules by their file, because
 * `npm exec` installs what it does not find.
 */
const planNode: Planner = async (around) => {
  const commands: PlannedCommand[] = [];
  const lacks: Lack[] = [];
  const lack = (what: string): void => void lacks.push({ stack, what });
  const manifest: Manifest | undefined = jsonObject((await around.text('package.json')) ?? '');
  if (manifest === undefined) {
    lack('package.json is not valid JSON.');
    return { commands, lacks };
  }
  const manager = MANAGERS.findLast(({ lock }) => has(around, lock))?.name ?? 'npm';
  const needs = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).length > 0;
  const modules = await around.upwards('node_modules');
  const plugAndPlay = (await around.upwards('.pnp.cjs')) !== undefined;
  if (needs && modules === undefined && !plugAndPlay) {
    lack(`The project's packages are not installed: run "${manager} install" first.`);
    return { commands, lacks };
  }
  const tool = async (name: string, file: string, args: string[]): Promise<void> => {
    const place = await around.upwards(join('node_modules', file));
    if (place === undefined) lack(`${name} is not among the installed packages.`);
    else
      commands.push({
        stack,
        shown: [name, ...args].join(' '),
        program: around.node,
        args: [place, ...args],
      });
  };
  if (has(around, /^tsconfig\.json$/)) await tool('tsc', 'typescript/bin/tsc', ['--noEmit']);
  const test = manifest.scripts?.['test'];
  if (has(around, /^vitest\.config\.[cm]?[jt]s$/)) await tool('vitest', 'vitest/vitest.mjs', ['run']);
  else if (typeof test === 'string' && !NO_TESTS.test(test)) {
    const runner = await managerCommand(manager, around);
    if (runner === undefined) lack(`${manager} is not installed, and the project's tests are run with it.`);
    else
      commands.push({
        stack,
        shown: `${manager} run test`,
        program: runner.program,
        args: [...runner.args, 'run', 'test'],
        env: OFFLINE,
      });
  }
  if (commands.length === 0 && lacks.length === 0)
    lack(
      typeof test === 'string'
        ? `The "test" script in package.json is npm's placeholder ("no test specified"), and there is no tsconfig.json.`
        : 'There is neither a tsconfig.json nor a "test" script in package.json.',
    );
  return { commands, lacks };
};

interface Manifest {
  scripts?: Record<string, unknown>;
  dependencies?: object;
  devDependencies?: object;
}

/** On Windows a package manager is a script for a shell; npm can be started by its own file instead. */
async function managerCommand(
  name: string,
  { program, node, platform }: Surroundings,
): Promise<{ program: string; args: string[] } | undefined> {
  const place = await program(name);
  if (place !== undefined) return { program: place, args: [] };
  if (platform !== 'win32' || name !== 'npm') return undefined;
  return { program: node, args: [join(dirname(node), 'node_modules', 'npm', 'bin', 'npm-cli.js')] };
}

/** How each stack is verified when the project has no script: the commands of the kit, as far as they change nothing. */
export const PLANS: Readonly<Record<KitStack, Planner>> = {
  go: planGo,
  typescript: planNode,
  terraform: planTerraform,
  ansible: planAnsible,
  python: planPython,
  docker: planDocker,
  kubernetes: planKubernetes,
  shell: planShell,
};
