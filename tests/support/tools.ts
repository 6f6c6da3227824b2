import { join } from 'node:path';
import { repository } from './app.ts';
import { keptIn } from './host-packages.ts';
import { installedPackage } from './npm.ts';

/**
 * Programs of others that the gate runs against ours. They need a newer Node than we do and are large, so they are no
 * dependencies: each is fetched on first use and kept in `.cache/tools`.
 */
const CONFORMANCE = ['@modelcontextprotocol/conformance', '0.2.0-alpha.12'] as const;
const INSPECTOR = ['@modelcontextprotocol/inspector', '2.12.0'] as const;

/** The versions of Node that the tests run on besides the oldest one we support. */
export const NODES = ['22.23.3', '24.21.0', '26.10.0'] as const;

/** Program and first arguments. */
export type Command = readonly [string, ...string[]];

export async function conformanceTool(): Promise<Command> {
  const [node, folder] = await Promise.all([node22(), tool(...CONFORMANCE)]);
  return [node, join(folder, 'dist/index.js')];
}

export async function inspectorTool(): Promise<Command> {
  const [node, folder] = await Promise.all([node22(), tool(...INSPECTOR)]);
  return [node, join(folder, 'clients/launcher/build/index.js')];
}

/** The command line inside of it, for a program that imports it. */
export async function inspectorModule(): Promise<Command> {
  const [node, folder] = await Promise.all([node22(), tool(...INSPECTOR)]);
  return [node, join(folder, 'clients/cli/build/index.js')];
}

/** A Node 22 from npm, whichever Node runs the tests. */
export const node22 = (): Promise<string> => nodeOf(NODES[0]);

/** A Node from npm. */
export async function nodeOf(version: string): Promise<string> {
  const windows = process.platform === 'win32';
  const folder = await tool(`node-${windows ? 'win' : process.platform}-${process.arch}`, version);
  return join(folder, 'bin', windows ? 'node.exe' : 'node');
}

/** Those that a whole run needs, with their places; the inspector is for long trials, which fetch it themselves. */
export function allTools(): { place: string; fetch: () => Promise<unknown> }[] {
  return [{ place: join(repository, keptIn(...CONFORMANCE)), fetch: conformanceTool }];
}

/** A package in a folder of its own. */
export function tool(name: string, version: string): Promise<string> {
  return installedPackage(join(repository, keptIn(name, version)), name, version);
}
