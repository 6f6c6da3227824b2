import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { madePrivate } from './private-folder.ts';

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
  sweep(folder, name);
}

/** Removes drafts that killed processes have left, and the files of earlier builds of the same program. */
function sweep(folder: string, name: string): void {
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
