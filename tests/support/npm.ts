import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fetchedElsewhere } from './fetching.ts';

const run = promisify(execFile);

const underWay = new Map<string, Promise<string>>();

/**
 * The folder of a package of exactly this version, installed into `folder` on first use and kept. Made beside its place
 * and moved there whole, so that a broken attempt never passes for an install.
 */
export function installedPackage(folder: string, name: string, version: string): Promise<string> {
  const known = underWay.get(folder) ?? install(folder, name, version);
  underWay.set(folder, known);
  return known;
}

async function install(folder: string, name: string, version: string): Promise<string> {
  const installed = join(folder, 'node_modules', name);
  if (!existsSync(installed)) await fetchedElsewhere(folder);
  if (existsSync(installed)) return installed;
  const making = `${folder}.${process.pid}`;
  await rm(making, { recursive: true, force: true });
  await mkdir(making, { recursive: true });
  const npm = process.env['npm_execpath'];
  const [program, first] = npm === undefined ? ['npm', []] : [process.execPath, [npm]];
  const flags = ['--prefix', making, '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  await run(program, [...first, 'install', ...flags, `${name}@${version}`], { maxBuffer: 1e8 });
  await rename(making, folder).catch(() => rm(making, { recursive: true, force: true }));
  return installed;
}
