import * as nodeModule from 'node:module';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { cacheCompiledCode, madePrivate } from '../base/files/user-cache.ts';
import { changeMark, isSameFile } from '../base/files/file-stamps.ts';
import { CLI_PROGRAM, STATE_FOLDER } from '../base/product.ts';

/** The folder of the built programs; the content is beside them. */
export const programFolder = dirname(fileURLToPath(import.meta.url));

/** The first word of the command line that starts the server over HTTP. */
export const SERVE = 'serve';
/** The first word of the command line that opens the page for people. */
export const PAGE = 'page';

export function programArguments(): string[] {
  const args = process.argv.slice(2);
  const [first, second = ''] = args;
  // The help of a server is its own.
  return first === 'help' && [SERVE, PAGE].includes(second) ? [second, '--help'] : args;
}

/** The stream of a protocol, which is written by programs and read by one. */
export function protocolOutput(): NodeJS.WriteStream {
  return process.stdout;
}

/**
 * Whether people can type the name of the command line, by the folders that are searched for programs. Other packages have
 * a program of that name too; on Windows there is only a script that starts it.
 */
export function commandIsFound(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
  own = join(programFolder, `${CLI_PROGRAM}.cjs`),
): boolean {
  const folders = (env['PATH'] ?? env['Path'] ?? '').split(platform === 'win32' ? ';' : ':');
  return folders
    .filter((folder) => isAbsolute(folder))
    .some((folder) =>
      platform === 'win32'
        ? changeMark(join(folder, `${CLI_PROGRAM}.cmd`)) !== undefined
        : isSameFile(join(folder, CLI_PROGRAM), own),
    );
}

/** What a person types for the command line where its name alone is not found: a path that runs from here. */
export function typedCommand(env: NodeJS.ProcessEnv): string | undefined {
  if (commandIsFound(env, process.platform)) return undefined;
  const own = join(programFolder, `${CLI_PROGRAM}.cjs`);
  const near = relative(process.cwd(), own);
  const path = near.startsWith('..') || isAbsolute(near) ? own : near;
  return typedPath('node', path);
}

/** Words of a command as a person types them. */
export const typedPath = (...words: readonly string[]): string =>
  words.map((word) => (/^[\w./-]+$/.test(word) ? word : `"${word}"`)).join(' ');

/** Not in the types of Node 20, which has no compile cache. */
interface WithCompileCache {
  enableCompileCache?: (folder: string) => unknown;
}

/**
 * How much a function has to do before Node 20 optimizes it, three times as much as usual: a fifth of the processor time of a
 * first call went into optimizing what runs once. Later ones do not know the flag, and judge better.
 */
const OPTIMIZED_LATER = { node: 'v20.', flag: '--interrupt-budget=400000' };

/** Keeps the compiled program between starts. The variables are Node's own, understood from 22.1 on. */
export function useCompileCache(): void {
  // Before anything is taken from the cache, which goes by it.
  if (process.version.startsWith(OPTIMIZED_LATER.node)) setFlagsFromString(OPTIMIZED_LATER.flag);
  const {
    NODE_COMPILE_CACHE: asked,
    NODE_DISABLE_COMPILE_CACHE: off,
    LOCALAPPDATA,
    XDG_CACHE_HOME,
  } = process.env;
  const { enableCompileCache } = nodeModule as WithCompileCache;
  // Node itself reads them before it starts a program.
  if (off !== undefined || (asked !== undefined && enableCompileCache !== undefined)) return;
  const base =
    process.platform === 'win32'
      ? LOCALAPPDATA || join(homedir(), 'AppData', 'Local')
      : XDG_CACHE_HOME || join(homedir(), '.cache');
  const folder = asked ?? join(base, STATE_FOLDER, 'compile-cache');
  // What is relative leads into the project, which could bring its own code there.
  if (!isAbsolute(folder)) return;
  // Node itself would make it readable for everyone.
  if (!madePrivate(folder)) return;
  if (enableCompileCache !== undefined) return void enableCompileCache(folder);
  cacheCompiledCode({
    folder: join(folder, `${process.version}-${process.arch}`),
    programs: dirname(fileURLToPath(import.meta.url)),
    atEnd: (work) => void process.once('exit', work),
  });
}
