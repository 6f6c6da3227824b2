import { t } from '../../base/text/message.ts';
import { basename, dirname, isAbsolute, join, posix, relative, sep } from 'node:path';
import { ours } from '../../base/errors.ts';
import { wholeMark } from '../../base/files/file-tree.ts';
import { isLink, readInside, realFolder } from '../../base/files/files.ts';
import { isBelow } from '../../base/files/open-file.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { isTable } from '../../base/parse/parse.ts';
import { foldersOf } from '../../base/process/project-files.ts';
import { masked, URL_CREDENTIALS } from '../../base/secrets/rules.ts';
import { sha256 } from '../../base/values.ts';
import { visible } from '../../base/text/hidden.ts';
import { fenced, oneLine } from '../../base/text/text.ts';
import { planBuiltin, type PlanRequest } from './builtin.ts';
import type { PlannedCommand } from './plans.ts';
import type { Script } from './run.ts';

/** Something of the project that says what is run. */
interface ProgramFile {
  path: string;
  /** Of all that counts of it; nothing where nobody here knows what it says, so a permission from before says nothing. */
  digest: string | undefined;
  /** What is said of it, in a few words. */
  about: string;
  /** What it says, for people. */
  text?: string;
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
  /** Stands for the commands and everything of the files. */
  digest: string;
  /** Whether the project has a script of its own. */
  scripted: boolean;
}

/** Where it would run, and how to take known secrets out of what is shown. */
export interface ProgramsRequest extends PlanRequest {
  hideKnown(text: string): string;
}

/** Files that tell a package manager which programs to run scripts with. */
const RUNNERS =
  '.npmrc .yarnrc .yarnrc.yml pnpm-workspace.yaml bunfig.toml .pnpmfile.cjs .pnpmfile.mjs'.split(' ');
/** Of a larger file only the digest is shown. */
const SHOWN_BYTES = 100_000;
const MANIFEST_BYTES = 5_000_000;

/**
 * Reads, once, what the contract would run in a folder: the commands, the script, and the files that say which programs are
 * started. What the project's code does once it runs cannot be told from outside.
 */
export async function readPrograms(request: ProgramsRequest, script: Script | undefined): Promise<Programs> {
  const { root, folder } = request;
  const hide = (text: string): string => withoutSecrets(text, request.hideKnown);
  const planned = script === undefined ? (await planBuiltin(request)).commands : [];
  const commands =
    script === undefined
      ? planned.map(({ shown }) => shown)
      : [`bash ${script.path} ${folder === '' ? '.' : folder}`];
  const found = [
    script && textFile(script.path, script.content),
    ...(await Promise.all((await ownPlaces(root, planned)).map((path) => ownProgram(root, path)))),
  ];
  for (const at of foldersOf([posix.join(folder, 'package.json')]).toReversed())
    for (const name of ['package.json', ...RUNNERS]) found.push(await runnerFile(root, posix.join(at, name)));
  const files = found.filter((file) => file !== undefined);
  return {
    root,
    folder,
    commands: commands.map(hide),
    files: files.map((file) => (file.text === undefined ? file : { ...file, text: hide(file.text) })),
    digest: sha256(JSON.stringify([commands, files.map(({ path, digest }) => [path, digest ?? ''])])),
    scripted: script !== undefined,
  };
}

/** Programs that lie in the project itself, such as those that package managers put there. */
async function ownPlaces(root: string, planned: readonly PlannedCommand[]): Promise<string[]> {
  const words = planned.flatMap(({ program, args }) => [program, ...args]).filter(isAbsolute);
  // A folder on the PATH may be a link into the project.
  const real = async (word: string): Promise<string> =>
    isBelow(root, word) ? word : join((await realFolder(dirname(word))) ?? dirname(word), basename(word));
  const places = new Set((await Promise.all(words.map(real))).filter((place) => isBelow(root, place)));
  return [...places].map((place) => relative(root, place).split(sep).join('/'));
}

async function ownProgram(root: string, path: string): Promise<ProgramFile> {
  const mark = await wholeMark(root, path);
  return mark === undefined
    ? unread(path)
    : { path, digest: mark.digest, about: named(mark.bytes, mark.digest) };
}

/**
 * A package manager may read what is refused here, such as a link that leads out of the project, or one that leads to a
 * file only where the package manager runs; that it is there counts.
 */
async function runnerFile(root: string, path: string): Promise<ProgramFile | undefined> {
  const isManifest = posix.basename(path) === 'package.json';
  const most = isManifest ? MANIFEST_BYTES : SHOWN_BYTES;
  // Such as .npmrc: values of credentials in it are masked, and what it has run is shown.
  const content = await readInside(root, path, most, { secrets: 'mine' }).catch(
    ours(async ({ code }) => {
      if (code === 'not_found') return (await isLink(join(root, path))) ? unread(path) : undefined;
      if (code !== 'too_large' || isManifest) return unread(path);
      const file = await ownProgram(root, path);
      return { ...file, about: t`${file.about}, too large to be shown: read it first` };
    }),
  );
  if (!Buffer.isBuffer(content)) return content;
  if (isManifest) return scriptsOf(path, content);
  const file = textFile(path, content);
  if (!path.endsWith('js')) file.text = withoutLogins(file.text ?? '');
  return file;
}

const unread = (path: string): ProgramFile => ({
  path,
  digest: undefined,
  about: t`cannot be read here, so it is asked about each time`,
});

const named = (bytes: number, digest: string): string => t`${bytes} bytes, SHA-256 ${digest}`;

function textFile(path: string, content: Buffer): ProgramFile {
  const digest = sha256(content);
  return {
    path,
    digest,
    about: named(content.byteLength, digest),
    text: plainText(content.toString('utf8')),
  };
}

/** Of a manifest only the scripts count: a new version, or a new dependency, starts nothing else. */
function scriptsOf(path: string, manifest: Buffer): ProgramFile | undefined {
  const { scripts } = jsonObject(manifest.toString('utf8')) ?? {};
  if (!isTable(scripts) || Object.keys(scripts).length === 0) return undefined;
  const entries = Object.entries(scripts).map(([name, value]) => [name, String(value)] as const);
  const text = entries.map((entry) =>
    entry.map((part) => plainText(part).replaceAll('\n', '\\n')).join(': '),
  );
  return {
    path,
    digest: sha256(JSON.stringify(entries)),
    about: t`its scripts`,
    text: text.join('\n'),
  };
}

const MOST_COMMANDS = 4;

/** What would run, in the few words that a model needs to tell its user. */
export function shownCommands({ commands }: Programs): string[] {
  const rest = commands.length - MOST_COMMANDS;
  return [
    ...commands.slice(0, MOST_COMMANDS).map((command) => oneLine(visible(command), 80)),
    ...(rest > 0 ? [t`${rest} more`] : []),
  ];
}

/** What would run, in lines for people: with all texts for the person who decides. */
export function programLines(
  { commands, files }: Programs,
  { changed = [], texts }: { changed?: readonly string[] | undefined; texts: boolean },
): string[] {
  return [
    ...files.flatMap(({ path, about, text }) => [
      `${visible(path)}${changed.includes(path) ? t` (changed)` : ''}, ${about}`,
      // In a fence of its own, nothing in it passes for what is said here, or is taken for a sentence to be translated.
      ...(texts && text !== undefined ? fenced(text).split('\n') : []),
    ]),
    t`Runs: ${commands.map(visible).join(', ') || t`nothing`}`,
  ];
}

/**
 * What a person reads before deciding whether a project may run its programs. Its author has written it, so nothing may
 * keep a command from being seen: not blanks, not empty lines, and not what looks like a secret.
 */

/** What a shell would neither run nor take for the end of a word. */
const PLAIN_VALUE = /^[\w.~%+,:=@-]*$/;

const CREDENTIALS = {
  ...URL_CREDENTIALS,
  *find(text: string) {
    for (const [start, end] of URL_CREDENTIALS.find(text))
      if (PLAIN_VALUE.test(text.slice(start, end))) yield [start, end] as const;
  },
};

/** Hides secrets that are known, and credentials of URLs unless they could be a command. */
function withoutSecrets(text: string, hide: (text: string) => string): string {
  return masked(hide(text), [CREDENTIALS]).text;
}

/** A line that logs in to a registry and can do nothing else, in the settings of npm, yarn, pnpm and bun. */
const LOGIN =
  /^([ \t]*(?:\/\/[^\s=]*:)?["']?(?:_authToken|_auth|_password|npmAuthToken|npmAuthIdent|token)["']?[ \t]*[=:][ \t]*)["']?[\w.+/=-]+["']?[ \t]*$/gm;

/** Settings without what logs in to a registry: scripts of CI systems print what they allow. */
function withoutLogins(settings: string): string {
  return settings.replace(LOGIN, '$1***');
}

/** How wide a gap may be, and how many empty lines there may be, before they are said in words. */
const WIDE_GAP = 40;
const MANY_LINES = 20;

function withoutGaps(line: string): string {
  return line.replace(/[\p{Zs}\t]{10,}/gu, (gap) => {
    const tabs = gap.split('\t').length - 1;
    return gap.length + 3 * tabs < WIDE_GAP ? gap : ` [${gap.length} blanks] `;
  });
}

/** A text to its last character: what a terminal would hide or obey as escapes, and long gaps in words. */
function plainText(text: string): string {
  const shown: string[] = [];
  let empty = 0;
  const close = (): void => {
    if (empty >= MANY_LINES) shown.splice(-empty, empty, t`[${empty} empty lines]`);
    empty = 0;
  };
  for (const line of text.split('\n')) {
    if (/\S/.test(line)) close();
    else empty += 1;
    shown.push(withoutGaps(line.split('\t').map(visible).join('\t')));
  }
  close();
  return shown.join('\n');
}
