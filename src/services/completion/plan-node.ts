import { dirname, join } from 'node:path';
import { jsonObject } from '../../base/parse/json.ts';
import { has, type Lack, type PlannedCommand, type Planner, type Surroundings } from './plan.ts';

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
export const planNode: Planner = async (around) => {
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
        ? 'The "test" script in package.json is npm\'s placeholder ("no test specified"), and there is no tsconfig.json.'
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
