import { isAbsolute, join, posix, relative, sep } from 'node:path';
import { ours } from '../../base/expected.ts';
import { isLink, readInside } from '../../base/files/files.ts';
import { isBelow } from '../../base/files/open-file.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { isTable } from '../../base/parse/parse.ts';
import { sha256 } from '../../base/sha256.ts';
import { visible } from '../../base/text/hidden.ts';
import { oneLine, plural } from '../../base/text/text.ts';
import { planBuiltin, type PlanRequest } from './builtin.ts';
import type { PlannedCommand } from './plan.ts';
import type { Script } from './run.ts';
import { leadsElsewhere, plainText, scriptLines, settingLines, withoutSecrets } from './shown-programs.ts';

/** A file of the project that says what is run, and the digest of the part of it that says so. */
interface ProgramFile {
  path: string;
  sha256: string;
  /** What it says, in lines for people. */
  shown: string[];
  /** Nobody here knows what it says, or what it leads to: a permission from before says nothing about it. */
  unread?: true;
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

/** Where it would run, and how to take known secrets out of what is shown. */
export interface ProgramsRequest extends PlanRequest {
  hideKnown(text: string): string;
}

/** Files that tell a package manager which programs to run scripts with: settings, and code. */
const SETTINGS = ['.npmrc', '.yarnrc', '.yarnrc.yml', 'pnpm-workspace.yaml', 'bunfig.toml'];
const RUNNERS = [...SETTINGS, '.pnpmfile.cjs', '.pnpmfile.mjs'];
const FILE_BYTES = 5_000_000;

/**
 * Reads what the contract would run in a folder. What the project's code does once it runs cannot be told from outside:
 * these are the places that say which programs are started.
 */
export async function readPrograms(request: ProgramsRequest, script: Script | undefined): Promise<Programs> {
  const { root, folder } = request;
  const hide = (text: string): string => withoutSecrets(text, request.hideKnown);
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
    script: script && hide(plainText(script.content.toString('utf8'))),
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

/** The folder and those above it, up to the top of the project. */
function upwards(folder: string): string[] {
  const found = [folder];
  for (let at = folder; at !== ''; found.push(at)) at = at.includes('/') ? posix.dirname(at) : '';
  return found;
}

const UNREADABLE = 'unreadable';

/**
 * A package manager may read what is refused here, such as a link that leads out of the project, or one that leads to a
 * file only where the package manager runs; that it is there counts.
 */
async function fileIn(root: string, path: string): Promise<Buffer | typeof UNREADABLE | undefined> {
  // Such as .npmrc: values of credentials in it are masked, and what it has run is shown.
  return readInside(root, path, FILE_BYTES, { secrets: 'mine' }).catch(
    ours(async ({ code }) =>
      code === 'not_found' && !(await isLink(join(root, path))) ? undefined : UNREADABLE,
    ),
  );
}

function programFile(path: string, content: Buffer | typeof UNREADABLE): ProgramFile | undefined {
  if (content === UNREADABLE)
    return {
      path,
      sha256: sha256(UNREADABLE),
      shown: ['cannot be read here, so it is asked about each time'],
      unread: true,
    };
  const name = posix.basename(path);
  if (name !== 'package.json') {
    const [text, isNpm] = [content.toString('utf8'), name === '.npmrc'];
    const lines = SETTINGS.includes(name) ? settingLines(text, isNpm) : [];
    const file = { path, sha256: sha256(content), shown: [size(content), ...lines] };
    return isNpm && leadsElsewhere(text)
      ? { ...file, shown: [...file.shown, ELSEWHERE], unread: true }
      : file;
  }
  const scripts = scriptsIn(content);
  return scripts && { path, sha256: sha256(JSON.stringify(scripts)), shown: scriptLines(scripts) };
}

const ELSEWHERE = 'may run scripts or obey settings that are not shown here, so it is asked about each time';

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

const size = ({ byteLength }: Uint8Array): string => `${byteLength} bytes`;

const MOST_COMMANDS = 4;

/** What would run, in the few words that a model needs to tell its user. */
export function shownCommands({ commands }: Programs): string[] {
  const rest = commands.length - MOST_COMMANDS;
  return [
    ...commands.slice(0, MOST_COMMANDS).map((command) => oneLine(visible(command), 80)),
    ...(rest > 0 ? [`${rest} more`] : []),
  ];
}

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
