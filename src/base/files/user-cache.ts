import Module, { createRequire } from 'node:module';
import { createHash, randomBytes } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';

/** One for each project that a host starts the server in. */
const MOST_FILES = 100;
/** Longer than any list of tools; what somebody else has written there is not read. */
const MOST_BYTES = 1_000_000;

/** What says whether an answer still holds: a value, or the places it was made from. */
export interface Premises {
  /** Everything but the disk that decides the answers. */
  values: readonly unknown[];
  /** Files that are read, whose whole stamp counts, and folders of which only the identity does. */
  files: readonly string[];
  folders: readonly string[];
}

/** The premises as they are now: one text, the same as long as nothing of them has changed, and which of the places are there. */
export function stamped({ values, files, folders }: Premises): { text: string; there: readonly string[] } {
  const [all, before] = [[...files, ...folders], files.length];
  const stamps = all.map((path, index) => stamp(path, index < before));
  return {
    text: JSON.stringify([values, stamps]),
    there: all.filter((_path, index) => stamps[index] !== ''),
  };
}

function stamp(path: string, whole: boolean): string {
  try {
    const info = statSync(path, { throwIfNoEntry: false });
    if (info === undefined) return '';
    const { dev, ino, size, mtimeMs, ctimeMs } = info;
    return whole
      ? `${dev}.${ino}.${size}.${mtimeMs}.${ctimeMs}`
      : `${dev}.${ino}.${info.isDirectory() ? 1 : 0}`;
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

/** What was answered to a request, as it was written; by method and parameters. */
export type KeptAnswers = Readonly<Record<string, string>>;

/**
 * Answers of an earlier start, as long as their premises are what they were. They are written to clients without
 * another look, so they are read only from a folder that nobody else can change; a damaged file is as good as none.
 */
export function keptAnswers(folder: string, name: string, premises: string): KeptAnswers | undefined {
  const path = join(folder, name);
  try {
    const info = lstatSync(path);
    if (!info.isFile() || info.size > MOST_BYTES || !madePrivate(folder)) return undefined;
    const text = readFileSync(path, 'utf8');
    const end = text.indexOf('\n');
    if (text.slice(0, end) !== checksum(text.slice(end + 1))) return undefined;
    const [before, answers] = JSON.parse(text.slice(end + 1)) as [string, KeptAnswers];
    return before === premises ? answers : undefined;
  } catch {
    return undefined;
  }
}

export function keepAnswers(folder: string, name: string, premises: string, answers: KeptAnswers): void {
  try {
    if (!madePrivate(folder)) return;
    const text = JSON.stringify([premises, answers]);
    const draft = join(folder, `${name}.${process.pid}.tmp`);
    try {
      writeFileSync(draft, `${checksum(text)}\n${text}`, { mode: 0o600 });
      renameSync(draft, join(folder, name));
    } finally {
      rmSync(draft, { force: true });
    }
    sweep(folder);
  } catch {
    // The next start takes as long as this one.
  }
}

/** Those that the build has made, which are a part of the program. In ASCII, which is read in a tenth of the time. */
export function preparedAnswers(path: string): KeptAnswers {
  try {
    return JSON.parse(readFileSync(path, 'latin1')) as KeptAnswers;
  } catch {
    return {};
  }
}

/** The oldest go when there are too many, and drafts that were left with them. */
function sweep(folder: string): void {
  const names = readdirSync(folder);
  if (names.length <= MOST_FILES) return;
  const ages = names.map((name) => ({ name, at: lstatSync(join(folder, name)).mtimeMs }));
  ages.sort((a, b) => b.at - a.at);
  for (const { name } of ages.slice(MOST_FILES / 2)) rmSync(join(folder, name), { force: true });
}

/** Finds what a disk has damaged; to load a real digest would take longer than all the rest. */
export function checksum(text: string): string {
  // Four bytes at a time: this runs before anything is compiled for speed.
  const words = new Uint32Array(Math.ceil(Buffer.byteLength(text) / 4));
  Buffer.from(words.buffer).write(text);
  let [a, b] = [0x811c_9dc5 ^ text.length, 0x1234_5678];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? 0;
    a = Math.imul(a ^ word, 0x0100_0193);
    b = Math.imul(b ^ (word + index), 0x85eb_ca6b);
  }
  return `${(a >>> 0).toString(16)}${(b >>> 0).toString(16)}`;
}

/** A folder and all those above it. */
export function withParents(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...withParents(above)];
}

/** Not in the types of the oldest Node we run on. */
type LoadHandler = (module: NodeJS.Module & { exports: unknown }, path: string) => void;
interface Loader {
  _extensions: Record<string, LoadHandler | undefined>;
  wrap(code: string): string;
}

const DIGEST_BYTES = 20;
/** What is compiled depends on the command: the first starts each add theirs. */
const STARTS_THAT_ADD = 5;
/** Several installs may take turns: a few builds stay, for a month; more than a few go as soon as they are not new. */
const OTHER_BUILDS = 3;
const OLD_MS = 10 * 60_000;
const LONG_MS = 30 * 24 * 60 * 60_000;

const digest = (...parts: readonly (string | Uint8Array)[]): Buffer => {
  const hash = createHash('sha1');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

interface CompiledCode {
  /** One for each version of Node. */
  folder: string;
  /** Where the programs' own files are. */
  programs: string;
  atEnd(work: () => void): void;
}

/**
 * Keeps the compiled form of the programs' own files in a folder, for a Node that cannot do it itself. V8 compares the
 * length of the code and no more, and believes what it is given: the name holds a digest of the code, the file one of
 * itself.
 */
export function cacheCompiledCode({ folder, programs, atEnd }: CompiledCode): void {
  const loader = Module as unknown as Loader;
  const ordinary = loader._extensions['.js'];
  // What it contains is run.
  if (ordinary === undefined || !madePrivate(folder)) return;
  const growing: { name: string; script: Script; starts: number }[] = [];

  loader._extensions['.cjs'] = (module, path) => {
    const code = dirname(path) === programs ? readFileSync(path, 'utf8') : undefined;
    // Code from a cache cannot import modules: V8 does not keep who loads them.
    if (code === undefined || /\bimport\(/.test(code)) return ordinary(module, path);
    const name = `${basename(path)}.${digest(code).toString('hex').slice(0, 16)}`;
    const { cachedData, starts } = kept(join(folder, name));
    const script = new Script(loader.wrap(code), {
      filename: path,
      ...(cachedData === undefined ? {} : { cachedData }),
    });
    const refused = script.cachedDataRejected === true;
    if (refused || starts < STARTS_THAT_ADD) growing.push({ name, script, starts: refused ? 1 : starts + 1 });
    const run = script.runInThisContext() as (...context: unknown[]) => void;
    run.call(module.exports, module.exports, createRequire(path), module, path, dirname(path));
  };

  atEnd(() => {
    for (const { name, script, starts } of growing)
      attempt(() => keep(folder, name, Buffer.concat([Buffer.from([starts]), script.createCachedData()])));
  });
}

function kept(path: string): { cachedData?: Buffer; starts: number } {
  try {
    const bytes = readFileSync(path);
    const [told, rest] = [bytes.subarray(0, DIGEST_BYTES), bytes.subarray(DIGEST_BYTES)];
    return digest(rest).equals(told) ? { cachedData: rest.subarray(1), starts: rest[0] ?? 0 } : { starts: 0 };
  } catch {
    return { starts: 0 };
  }
}

function keep(folder: string, name: string, data: Buffer): void {
  const draft = join(folder, `${name}.${randomBytes(4).toString('hex')}.tmp`);
  try {
    writeFileSync(draft, Buffer.concat([digest(data), data]), { mode: 0o600 });
    renameSync(draft, join(folder, name));
  } finally {
    // It is still there only if something has failed.
    rmSync(draft, { force: true });
  }
  sweepPrograms(folder, name);
}

/** Removes drafts that killed processes have left, and the files of earlier builds of the same program. */
function sweepPrograms(folder: string, name: string): void {
  const program = name.slice(0, name.lastIndexOf('.') + 1);
  const ages = new Map<string, number>();
  for (const other of readdirSync(folder))
    if (other.startsWith(program) && other !== name)
      attempt(() => ages.set(other, Date.now() - lstatSync(join(folder, other)).mtimeMs));
  let builds = 0;
  for (const [other, age] of [...ages].sort(([, a], [, b]) => a - b)) {
    const isSpare = other.endsWith('.tmp') || (builds += 1) > OTHER_BUILDS;
    if (age > (isSpare ? OLD_MS : LONG_MS)) attempt(() => rmSync(join(folder, other), { force: true }));
  }
}

/** If it fails, the next start takes as long as this one. Another process may be doing the same. */
function attempt(work: () => unknown): void {
  try {
    work();
  } catch {
    // Nothing else depends on it.
  }
}

const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;
/** Whom a sandbox takes the owner of the machine's folders for. */
const NOBODY = 65_534;

/**
 * Makes a folder that only the user may change, before anything else of the program is loaded; false if it cannot be. An
 * existing one may belong to someone else, who would then choose what runs: it must be a folder, not a link to one, and
 * the user's own.
 */
export function madePrivate(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const info = lstatSync(folder);
    const user = process.getuid?.();
    if (!info.isDirectory()) return false;
    if (user === undefined) return true;
    return (
      info.uid === user && (info.mode & 0o022) === 0 && !isReplaceable(realpathSync.native(folder), user)
    );
  } catch {
    return false;
  }
}

/** Whether someone else may put another folder in the place of this one, or of one above it. */
function isReplaceable(folder: string, user: number): boolean {
  for (let place = folder; place !== dirname(place);) {
    place = dirname(place);
    const { uid, mode } = lstatSync(place);
    if (![user, 0, NOBODY].includes(uid) || (mode & (OTHERS_WRITE | STICKY)) === OTHERS_WRITE) return true;
  }
  return false;
}
