import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from './app.ts';
import { fetchedElsewhere } from './fetching.ts';
import { isUsual } from './how-much.ts';
import { installedPackage } from './npm.ts';

const run = promisify(execFile);
const cache = join(repository, '.cache', 'installs');

/** How each version is installed: the flags changed over time, and the alphas and betas only ask questions. */
type Method = 'v4' | 'prompts' | 'flags';

interface Recipe {
  method: Method;
  modules: readonly string[];
}

const PACKS = [
  'bmad-2d-phaser-game-dev',
  'bmad-2d-unity-game-dev',
  'bmad-creative-writing',
  'bmad-godot-game-dev',
  'bmad-infrastructure-devops',
];
const ALPHA_MODULES = ['bmb', 'bmgd', 'bmm', 'cis'];

const RECIPES = {
  '4.44.3': { method: 'v4', modules: PACKS },
  '6.0.0-alpha.7': { method: 'prompts', modules: ALPHA_MODULES },
  '6.0.0-alpha.22': { method: 'prompts', modules: ALPHA_MODULES },
  '6.0.0-Beta.5': { method: 'prompts', modules: ['bmm'] },
  '6.0.4': { method: 'flags', modules: ['bmm'] },
  '6.1.0': { method: 'flags', modules: ['bmm'] },
  '6.2.0': { method: 'flags', modules: ['bmm'] },
  '6.3.0': { method: 'flags', modules: ['bmm'] },
  '6.5.0': { method: 'flags', modules: ['bmm'] },
  '6.8.0': { method: 'flags', modules: ['bmm'] },
  '6.12.0': { method: 'flags', modules: ['bmm'] },
} satisfies Record<string, Recipe>;

export type Version = keyof typeof RECIPES;

const underWay = new Map<Version, Promise<string>>();

/** The folder of a real install, made from npm on first use and kept. Tests must not write into it. */
export function installOf(version: Version): Promise<string> {
  const known = underWay.get(version) ?? madeOrKept(version);
  underWay.set(version, known);
  return known;
}

async function madeOrKept(version: Version): Promise<string> {
  if (process.env['BMAD_TEST_INSTALLS'] === 'none')
    throw new Error('This test needs an install: list its file in vitest.config.ts with those that do.');
  const folder = join(cache, version);
  if (!existsSync(folder)) await fetchedElsewhere(folder);
  if (!existsSync(folder)) await makeInstall(version, folder);
  return folder;
}

/** All of them with their places; those that most tests need come first. */
export function allInstalls(): { place: string; fetch: () => Promise<unknown> }[] {
  const first: Version[] = ['6.12.0', '6.0.4', '4.44.3'];
  const versions = new Set([...first, ...(Object.keys(RECIPES) as Version[])]);
  return [...versions].filter(isUsual).map((version) => ({
    place: join(cache, version),
    fetch: () => installOf(version),
  }));
}

/** Installs `version` over what is in `folder` already, as an upgrade does. */
export async function upgrade(folder: string, version: Version): Promise<void> {
  await install(version, folder);
}

/** Made beside its place and moved there whole, so that a broken attempt never passes for an install. */
async function makeInstall(version: Version, folder: string): Promise<void> {
  const making = `${folder}.${process.pid}`;
  await rm(making, { recursive: true, force: true });
  await mkdir(making, { recursive: true });
  await install(version, making);
  await rename(making, folder).catch(async (error: unknown) => {
    await rm(making, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  });
}

async function install(version: Version, folder: string): Promise<void> {
  const { method, modules } = RECIPES[version];
  const bmad = await installedPackage(join(cache, '.packages', version), 'bmad-method', version);
  const args = await installerArguments(method, bmad, folder, modules);
  await run(process.execPath, args, { cwd: folder, env: await quietEnvironment(), maxBuffer: 1e8 });
}

async function installerArguments(
  method: Method,
  bmad: string,
  folder: string,
  modules: readonly string[],
): Promise<string[]> {
  if (method === 'v4') {
    return [
      join(bmad, 'tools/installer/bin/bmad.js'),
      'install',
      '-f',
      '-d',
      folder,
      '-i',
      'claude-code',
      '-e',
      ...modules,
    ];
  }
  if (method === 'prompts') {
    return [
      join(repository, 'tests/fixtures/answer-prompts.cjs'),
      bmad,
      folder,
      modules.join(','),
      'claude-code',
    ];
  }
  const newer = join(bmad, 'tools/installer/bmad-cli.js');
  const program = existsSync(newer) ? newer : join(bmad, 'tools/cli/bmad-cli.js');
  // All four core values or none: some versions write broken paths when only some are given.
  return [
    program,
    'install',
    '--directory',
    folder,
    '--modules',
    modules.join(','),
    '--tools',
    'claude-code',
    '--user-name',
    'Tester',
    '--communication-language',
    'English',
    '--document-output-language',
    'English',
    '--output-folder',
    '_bmad-output',
    '--yes',
  ];
}

/** Installers write into the home folder; they get one of their own. */
async function quietEnvironment(): Promise<NodeJS.ProcessEnv> {
  const home = join(cache, '.home');
  await mkdir(home, { recursive: true });
  return { ...process.env, HOME: home, USERPROFILE: home, CI: 'true' };
}
