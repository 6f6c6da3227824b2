import { isAbsolute, posix, relative, sep } from 'node:path';
import { ours } from '../../base/expected.ts';
import { readInside } from '../../base/files/files.ts';
import { isBelow } from '../../base/files/open-file.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { isTable } from '../../base/parse/parse.ts';
import { sha256 } from '../../base/sha256.ts';
import { visible } from '../../base/text/hidden.ts';
import { cut, plural } from '../../base/text/text.ts';
import { planBuiltin, type PlanRequest } from './builtin.ts';
import type { PlannedCommand } from './plan.ts';
import type { Script } from './run.ts';

/** A file of the project that says what is run, and the digest of the part of it that says so. */
interface ProgramFile {
  path: string;
  sha256: string;
  /** What it says, in lines for people. */
  shown: string[];
}

/** What a run of the contract would start. */
export interface Programs {
  /** The real path of the project. */
  root: string;
  /** Where it would run, below the root; nothing for the root itself. */
  folder: string;
  /** As a person would type them; none where nothing would be started. */
  commands: string[];
  files: ProgramFile[];
  /** The whole text of the script, for those who want to read it. */
  script: string | undefined;
}

/** Where it would run, and how to take out secrets of what is shown. */
export interface ProgramsRequest extends PlanRequest {
  hide(text: string): string;
}

/** Files that tell a package manager which programs to run scripts with. */
const RUNNERS = ['.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'bunfig.toml'];
const FILE_BYTES = 5_000_000;
const SHOWN_SCRIPTS = 20;

/**
 * Reads what the contract would run in a folder. What the project's code does once it runs cannot be told from outside:
 * these are the places that say which programs are started.
 */
export async function readPrograms(request: ProgramsRequest, script: Script | undefined): Promise<Programs> {
  const { root, folder, hide } = request;
  const planned = script === undefined ? (await planBuiltin(request)).commands : [];
  const commands =
    script === undefined
      ? planned.map(({ shown }) => shown)
      : [`bash ${script.path} ${folder === '' ? '.' : folder}`];
  const files: ProgramFile[] = [
    commandList(folder, commands),
    ...(script === undefined ? [] : [scriptFile(script)]),
    ...(await ownPrograms(root, planned)),
  ];
  for (const at of upwards(folder)) {
    for (const name of ['package.json', ...RUNNERS]) {
      const path = posix.join(at, name);
      const content = await fileIn(root, path);
      const file = content === undefined ? undefined : programFile(path, content);
      if (file !== undefined) files.push(file);
    }
  }
  return {
    root,
    folder,
    commands: commands.map(hide),
    files: files.map((file) => ({ ...file, shown: file.shown.map(hide) })),
    script: script && hide(readable(script.content)),
  };
}

/** What was allowed are these commands: other ones, or the same in another folder, are asked for again. */
function commandList(folder: string, commands: readonly string[]): ProgramFile {
  return {
    path: `commands in ${folder === '' ? '.' : folder}`,
    sha256: sha256(JSON.stringify(commands)),
    shown: [],
  };
}

/** Programs that lie in the project itself, such as those that package managers put there. */
async function ownPrograms(root: string, planned: readonly PlannedCommand[]): Promise<ProgramFile[]> {
  const words = planned.flatMap(({ program, args }) => [program, ...args]);
  const places = new Set(words.filter((word) => isAbsolute(word) && isBelow(root, word)));
  const files: ProgramFile[] = [];
  for (const place of places) {
    const path = relative(root, place).split(sep).join('/');
    const content = await fileIn(root, path);
    if (content === UNREADABLE)
      files.push({ path, sha256: sha256(UNREADABLE), shown: ['cannot be read here'] });
    else if (content !== undefined) files.push({ path, sha256: sha256(content), shown: [size(content)] });
  }
  return files;
}

/** What a terminal would hide or obey is shown as escapes. */
function readable(content: Buffer): string {
  return content
    .toString('utf8')
    .split('\n')
    .map((line) => line.split('\t').map(visible).join('\t'))
    .join('\n');
}

/** The folder and those above it, up to the top of the project. */
function upwards(folder: string): string[] {
  const found = [folder];
  for (let at = folder; at !== ''; found.push(at)) at = at.includes('/') ? posix.dirname(at) : '';
  return found;
}

const UNREADABLE = 'unreadable';

/** A package manager may read what is refused here, such as a link that leads out of the project; that it is there counts. */
async function fileIn(root: string, path: string): Promise<Buffer | typeof UNREADABLE | undefined> {
  return readInside(root, path, FILE_BYTES).catch(
    ours(({ code }) => (code === 'not_found' ? undefined : UNREADABLE)),
  );
}

function programFile(path: string, content: Buffer | typeof UNREADABLE): ProgramFile | undefined {
  if (content === UNREADABLE) return { path, sha256: sha256(UNREADABLE), shown: ['cannot be read here'] };
  if (posix.basename(path) !== 'package.json')
    return { path, sha256: sha256(content), shown: [size(content)] };
  const scripts = scriptsIn(content);
  return scripts === undefined ? undefined : packageFile(path, scripts);
}

function scriptFile({ path, content }: Script): ProgramFile {
  const lines = content.toString('utf8').split('\n').length - 1;
  return { path, sha256: sha256(content), shown: [`${plural(lines, 'line')}, ${size(content)}`] };
}

function scriptsIn(manifest: Buffer): [string, string][] | undefined {
  const { scripts } = jsonObject(manifest.toString('utf8')) ?? {};
  if (!isTable(scripts)) return undefined;
  const entries = Object.entries(scripts).map(([name, value]): [string, string] => [name, String(value)]);
  return entries.length === 0 ? undefined : entries.sort(([a], [b]) => (a < b ? -1 : 1));
}

function packageFile(path: string, scripts: [string, string][]): ProgramFile {
  // What runs by itself comes first.
  const isTest = ([name]: [string, string]): boolean => /^(?:pre|post)?test$/.test(name);
  const ordered = [...scripts.filter(isTest), ...scripts.filter((entry) => !isTest(entry))];
  const shown = ordered
    .slice(0, SHOWN_SCRIPTS)
    .map(([name, value]) => `${visible(cut(name, 60))}: ${visible(cut(value, 200))}`);
  const more = ordered.length - shown.length;
  return {
    path,
    sha256: sha256(JSON.stringify(scripts)),
    shown: more > 0 ? [...shown, `and ${more} more`] : shown,
  };
}

const size = ({ byteLength }: Uint8Array): string => `${byteLength} bytes`;

/** What would run, in lines for the person who decides. */
export function programLines({ commands, files }: Programs, changed: readonly string[] = []): string[] {
  return [
    `Runs: ${commands.map(visible).join(', ') || 'nothing'}`,
    ...files
      .filter(({ shown }) => shown.length > 0)
      .flatMap(({ path, sha256: digest, shown }) => [
        `${visible(path)}${changed.includes(path) ? ' (changed)' : ''}, SHA-256 ${digest.slice(0, 16)}`,
        ...shown.map((line) => `  ${line}`),
      ]),
  ];
}
