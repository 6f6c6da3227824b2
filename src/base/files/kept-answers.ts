import { lstatSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { madePrivate } from './private-folder.ts';

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

/** The premises as one text: the same as long as nothing of them has changed. */
export function premisesText({ values, files, folders }: Premises): string {
  return JSON.stringify([
    values,
    files.map((path) => stamp(path, true)),
    folders.map((path) => stamp(path, false)),
  ]);
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

export function forgetAnswers(folder: string, name: string): void {
  try {
    rmSync(join(folder, name), { force: true });
  } catch {
    // Where it cannot be removed, nothing could be kept either.
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
  let [a, b] = [0x811c_9dc5, 0x1234_5678];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, 0x0100_0193);
    b = Math.imul(b ^ (code + index), 0x85eb_ca6b);
  }
  return `${(a >>> 0).toString(16)}${(b >>> 0).toString(16)}`;
}

/** A folder and all those above it. */
export function withParents(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...withParents(above)];
}
