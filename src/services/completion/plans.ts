import { posix } from 'node:path';
import type { KitStack } from '../../kit/stacks.ts';
import { has, installed, type PlannedCommand, type Planner, type StackPlan } from './plan.ts';
import { planNode } from './plan-node.ts';

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
