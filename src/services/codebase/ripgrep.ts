import { type FoundProgram, ownProgram } from '../../base/files/find-program.ts';
import {
  intake,
  optionalFile,
  type ProgramOptions,
  type ProgramResult,
  runProgram,
  unlessBlocked,
} from '../../base/process/process.ts';
import { isNoProgram } from '../../base/process/start-program.ts';

/** The program of the optional package; one that merely happens to be on the path is not trusted. */
export function ripgrepProgram(): FoundProgram | undefined {
  const name = process.platform === 'win32' ? 'rg.exe' : 'rg';
  const place = `@vscode/ripgrep-${process.platform}-${process.arch}/bin/${name}`;
  const file = optionalFile(place, '@vscode/ripgrep');
  return file === undefined ? undefined : ownProgram(file);
}

const RIPGREP_LIST_MS = 15_000;

const SEARCH_MS = 5_000;

/** Which files it looks at, whatever it is asked: the same as git where there is no repository. */
const FILES = ['--no-config', '--hidden', '--no-require-git', '--no-ignore-parent', '--glob=!.git'];

const SEARCH =
  '--no-messages --max-filesize=512K --fixed-strings --smart-case --no-heading --color=never --line-number --only-matching --null'.split(
    ' ',
  );

/** The files of a folder that no ignore file names, below it and with slashes. Nothing when it cannot run. */
export async function filesByRipgrep(
  program: FoundProgram,
  root: string,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  const { consume, text } = intake();
  const ran = await run(program, root, ['--files', '--null', root], {
    timeoutMs: RIPGREP_LIST_MS,
    signal,
    consume,
  });
  // It answers 1 when there is no file, and 2 when some could not be looked at.
  if (ran?.code === undefined) return undefined;
  return text()
    .split('\0')
    .filter((path) => path !== '')
    .map((path) => below(root, path));
}

/** Where some texts are in the files as they are now. Nothing when it cannot run. */
export async function linesByRipgrep(
  program: FoundProgram,
  root: string,
  { texts, mostInFile }: { texts: readonly string[]; mostInFile: number },
  signal: AbortSignal,
): Promise<{ path: string; line: number; text: string }[] | undefined> {
  const patterns = texts.flatMap((text) => ['-e', text]);
  const args = [...SEARCH, `--max-count=${mostInFile}`, ...patterns, '--', root];
  const ran = await run(program, root, args, { timeoutMs: SEARCH_MS, signal });
  if (ran?.code === undefined || (ran.code === 2 && ran.lines.length === 0)) return undefined;
  return ran.lines.map((found) => {
    const [place = '', rest = ''] = found.split('\0');
    const colon = rest.indexOf(':');
    return {
      path: below(root, place),
      line: Number(rest.slice(0, colon)) - 1,
      text: rest.slice(colon + 1),
    };
  });
}

const below = (root: string, path: string): string =>
  path.slice(root.length).replaceAll('\\', '/').replace(/^\//, '');

async function run(
  program: FoundProgram,
  root: string,
  args: readonly string[],
  options: ProgramOptions & { signal: AbortSignal },
): Promise<ProgramResult | undefined> {
  const { signal } = options;
  try {
    return await unlessBlocked(root, signal, async (either) => {
      const ran = await runProgram(program, [...FILES, ...args], { ...options, signal: either });
      either.throwIfAborted();
      return ran;
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!isNoProgram(error)) throw error;
    return undefined;
  }
}
