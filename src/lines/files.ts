import { t } from '../base/text/message.ts';
import { randomBytes } from 'node:crypto';
import { join, sep } from 'node:path';
import { inTurn } from '../base/async.ts';
import { callerNow } from '../base/caller.ts';
import { grouped, those } from '../base/values.ts';
import { BmadError } from '../base/errors.ts';
import { withLock } from '../base/files/file-lock.ts';
import { removeFile } from '../base/files/open-file.ts';
import {
  appendLog,
  lastLines,
  type LogPlace,
  type LogStamp,
  logStamp,
  readLog,
  replaceLog,
  shortenLog,
} from '../base/files/file-log.ts';
import { KeptByStamp } from '../base/files/file-stamps.ts';
import { stateNames, writeOnce } from '../base/files/file-state.ts';
import { headAt } from '../base/files/repository.ts';
import { localDay } from '../base/text/text.ts';
import {
  type Expectation,
  eventsOnlyOf,
  isConflictMark,
  isUnseen,
  type Line,
  lineJson,
  type Log,
  type LogTrouble,
  type Lost,
  type Mark,
  type NewEvent,
  newLine,
  type Page,
  type PlacedLine,
  readLine,
  type Said,
  withoutSaid,
  type Writer,
} from './line.ts';
import { DAY, FILE, type Folder, keepFromGit, lineFiles, type LinePlace, OF_PROJECT } from './folders.ts';

const DAY_LENGTH = 10;
/** Days that clocks and time zones may still count as today. */
const OPEN_DAYS_MS = 2 * 24 * 60 * 60_000;
const LOCK = '.lines.lock';
const PATIENCE_MS = 20_000;
/** How often a line is written again because git has moved on meanwhile. */
const TRIES = 5;
/** What a reader takes in at once, so that others get their turn. */
const PAGE_EVENTS = 500;

const END_BYTES = 256 * 1024;

/** The file that this process appends to, and how it left it. */
interface OpenFile {
  name: string;
  day: string;
  head: string;
  version: string;
}

interface Differing {
  name: string;
  path?: string;
  known?: FilePlace | undefined;
  day?: string;
}

/** Lines in files: one for each process and day, so that any two histories of git merge without a conflict. */
export class LineFiles implements Log {
  readonly #place: LinePlace;
  readonly #writer: Writer;
  readonly #turn = inTurn();
  #machine: string | undefined;
  #open: OpenFile | undefined;
  #troubles: LogTrouble[] = [];
  readonly #listed = new KeptByStamp<readonly string[]>();

  constructor(place: LinePlace, writer: Writer) {
    this.#place = place;
    this.#writer = writer;
  }

  append(events: readonly NewEvent[], expect?: Expectation): Promise<PlacedLine | Lost> {
    const by = { ...this.#writer.by, ...callerNow() };
    return this.#turn(async () => {
      this.#machine ??= await this.#writer.machine();
      const line = newLine(events, this.#machine, by);
      if (expect === undefined) return this.#write(line);
      const { folder, inside } = this.#place;
      return withLock(join(folder, LOCK), { inside, waitMs: PATIENCE_MS }, async () => {
        const lost = await this.#since(expect);
        return lost.length > 0 ? { lost } : this.#write(line);
      });
    });
  }

  async *read(after: Mark, without?: string): AsyncIterable<Page> {
    let page = newPage();
    const troubles: LogTrouble[] = [];
    const leave = (name: string): void => {
      page.marks.set(name, undefined);
      if (!DAY.test(name)) page.gone.push(name);
    };
    for await (const { name, path, known, day } of this.#differing(after)) {
      if (day !== undefined) page.marks.set(name, day);
      else if (path === undefined) leave(name);
      if (path === undefined) continue;
      const part = await this.#readFile(name, path, known, troubles, without);
      if (part === undefined) {
        if (after.has(name)) leave(name);
        continue;
      }
      if (part.again && known !== undefined) page.gone.push(name);
      page.without += part.without;
      for (const line of part.lines) {
        // A file counts as read when all of it has been taken in; what comes twice counts once.
        if (page.events >= PAGE_EVENTS) {
          yield page;
          page = newPage();
        }
        page.lines.push({ line, file: name });
        page.events += line.events.length;
      }
      page.marks.set(name, placeText(part.known));
    }
    this.#troubles = troubles;
    yield page;
  }

  async last(least: number): Promise<PlacedLine[]> {
    const found: PlacedLine[] = [];
    for (const day of (await this.#days()).toReversed()) {
      const files = (await this.#filesOf(day)).flatMap((file) => {
        const longest = this.#longer(file);
        return longest === undefined ? [] : [{ ...longest, file }];
      });
      for (const { file, path } of files.sort((a, b) => b.at - a.at)) {
        if (found.length >= least) return found;
        const texts = (await lastLines(path, END_BYTES, this.#insideOf(path))) ?? [];
        for (const line of texts.map(readLine)) if (line !== undefined) found.push({ line, file });
      }
    }
    return found;
  }

  async changed(since: Mark): Promise<boolean> {
    for await (const _ of this.#differing(since)) return true;
    return false;
  }

  async ahead(since: Mark): Promise<number> {
    let bytes = 0;
    for await (const { path, known } of this.#differing(since))
      if (path !== undefined) bytes += Math.max(0, (logStamp(path)?.bytes ?? 0) - (known?.offset ?? 0));
    return bytes;
  }

  /** What is not as a mark has it: files, days that are over by now, and last the names of what is gone. */
  async *#differing(mark: Mark): AsyncIterable<Differing> {
    const before = grouped(mark.keys(), (name) => name.slice(0, DAY_LENGTH));
    const gone = new Set(mark.keys());
    const now = Date.now();
    for (const day of await this.#days()) {
      const version = now - Date.parse(day) > OPEN_DAYS_MS ? this.#dayVersion(day) : undefined;
      const isKnown = version !== undefined && mark.get(day) === version;
      for (const name of isKnown ? (before.get(day) ?? []) : [day]) gone.delete(name);
      for (const name of isKnown ? [] : await this.#filesOf(day)) {
        gone.delete(name);
        const file = this.#longer(name);
        const known = placeIn(mark.get(name));
        if (file !== undefined && file.version !== known?.version) yield { name, path: file.path, known };
      }
      if (version !== undefined && !isKnown) yield { name: day, day: version };
    }
    for (const name of gone) yield { name };
  }

  /** In each file that is here, whoever has written it: others do the same with theirs when they meet the line that says so. */
  erase(said: Said): Promise<boolean> {
    return this.#turn(async () => {
      let any = false;
      for (const { at, inside } of this.#folders())
        for (const name of await lineFiles(at, inside))
          if (await this.#erased(join(at, name), inside, said)) any = true;
      this.#open = undefined;
      return any;
    });
  }

  async #erased(path: string, inside: string | undefined, said: Said): Promise<boolean> {
    const texts: string[] = [];
    let any = false;
    const keep = (text: string): void => {
      const line = readLine(text);
      const without = line && withoutSaid(line, said);
      if (without !== undefined) any = true;
      texts.push(without === undefined ? text : lineJson(without));
    };
    await readLog(path, undefined, () => undefined, keep, inside);
    if (any) await replaceLog(path, texts, inside);
    return any;
  }

  troubles(): readonly LogTrouble[] {
    return this.#troubles;
  }

  now(): number {
    return Date.now();
  }

  put(lines: readonly Line[]): Promise<void> {
    return this.#turn(async () => {
      this.#machine ??= await this.#writer.machine();
      await this.#written(lines.map(lineJson));
    });
  }

  /** What others have written about the same since a reading. */
  async #since(expect: Expectation): Promise<PlacedLine[]> {
    const found: PlacedLine[] = [];
    for await (const { lines } of this.read(expect.since))
      found.push(...lines.filter(({ line }) => isUnseen(expect, line)));
    return found;
  }

  async #write(line: Line): Promise<PlacedLine> {
    return { line, file: await this.#written([lineJson(line)]) };
  }

  /** Project first, then the mirror: what was refused is nowhere. */
  async #written(texts: readonly string[]): Promise<string> {
    const { mirror } = this.#place;
    for (let tries = 0; tries < TRIES; tries += 1) {
      const { name, undo, isSafe } = await this.#appended(texts);
      try {
        if (isSafe && mirror !== undefined) await appendLog(join(mirror, name), texts);
      } catch (error) {
        await undo();
        throw error;
      }
      if (isSafe) return name;
      await undo();
    }
    throw new BmadError(
      'conflict',
      t`The files of the project changed again and again while this was written.`,
      {
        hint: t`Nothing was kept. Try again when git has finished.`,
      },
    );
  }

  /**
   * Appends to the file of this process, or begins one: where the day has changed, where something else has changed the file,
   * and where git has checked out or made another commit, because what is committed must never change.
   */
  async #appended(
    texts: readonly string[],
  ): Promise<{ name: string; isSafe: boolean; undo: () => Promise<void> }> {
    const { folder, inside, project, mirror, isPrivate } = this.#place;
    const day = localDay(new Date());
    const head = project === undefined ? '' : await headAt(project);
    const open = this.#open;
    const fits =
      open?.day === day && open.head === head && logStamp(join(folder, open.name))?.version === open.version;
    const name = fits ? open.name : `${day}/${this.#machine}-${randomBytes(6).toString('hex')}.jsonl`;
    if (!fits) {
      if (isPrivate) await keepFromGit(folder, inside);
      if (mirror !== undefined && project !== undefined)
        await writeOnce(join(mirror, OF_PROJECT), `${project}\n`);
    }
    const path = join(folder, name);
    const before = fits ? (logStamp(path)?.bytes ?? 0) : 0;
    await appendLog(path, texts, inside);
    const stamp = logStamp(path);
    const added = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
    const isThere = stamp !== undefined && stamp.bytes === before + added;
    const isSafe = isThere && (project === undefined || (await headAt(project)) === head);
    this.#open = isSafe ? { name, day, head, version: stamp.version } : undefined;
    // Where git took the file while the line was written, it goes back to what was committed, and the line into a new file.
    const undo = async (): Promise<void> => {
      this.#open = undefined;
      if (isThere && before === 0) await removeFile(path, inside).catch(() => undefined);
      else if (isThere) await shortenLog(path, before, inside).catch(() => undefined);
    };
    return { name, isSafe, undo };
  }

  /** Where lines are read: those of the project, those of the other place, and this user's own once more. */
  #folders(): Folder[] {
    const { folder, inside, mirror, also } = this.#place;
    return those<Folder>({ at: folder, inside }, also, mirror !== undefined && { at: mirror });
  }

  async #names(below: string, form: RegExp): Promise<string[]> {
    const found = new Set<string>();
    for (const { at, inside } of this.#folders()) {
      const path = join(at, below);
      const names = await this.#listed.read(path, () => stateNames(path, inside));
      for (const name of names ?? []) if (form.test(name)) found.add(name);
    }
    return [...found].sort();
  }

  #days(): Promise<string[]> {
    return this.#names('', DAY);
  }

  async #filesOf(day: string): Promise<string[]> {
    return (await this.#names(day, FILE)).map((name) => `${day}/${name}`);
  }

  /** Changes when something was added to a day, or removed from it. */
  #dayVersion(day: string): string {
    return this.#folders()
      .map(({ at }) => logStamp(join(at, day))?.version ?? '')
      .join(' ');
  }

  /** Of a file and its mirror, the one that has more: git may have taken the file back to an earlier state. */
  #longer(name: string): (LogStamp & { path: string }) | undefined {
    const found = this.#folders().flatMap(({ at }) => {
      const path = join(at, name);
      const stamp = logStamp(path);
      return stamp === undefined ? [] : [{ ...stamp, path }];
    });
    return found.sort((a, b) => b.bytes - a.bytes)[0];
  }

  #insideOf(path: string): string | undefined {
    return this.#folders().find(({ at }) => path.startsWith(at + sep))?.inside;
  }

  async #readFile(
    name: string,
    path: string,
    known: FilePlace | undefined,
    troubles: LogTrouble[],
    leftOut: string | undefined,
  ): Promise<{ lines: Line[]; without: number; again: boolean; known: FilePlace } | undefined> {
    const { version = '', bytes } = logStamp(path) ?? {};
    // Changed without having grown: a hand was at it, or a machine that set the clock of the file.
    const from = known !== undefined && bytes === known.offset ? undefined : known;
    const lines: Line[] = [];
    const odd = { conflict: 0, unreadable: 0 };
    let [again, without] = [false, 0];
    const read = await readLog(
      path,
      from,
      () => (again = true),
      (text) => {
        const others = leftOut === undefined ? 0 : eventsOnlyOf(leftOut, text);
        without += others;
        if (others > 0) return;
        const line = readLine(text);
        if (line !== undefined) lines.push(line);
        else odd[isConflictMark(text) ? 'conflict' : 'unreadable'] += 1;
      },
      this.#insideOf(path),
    );
    if (read === undefined) return undefined;
    for (const what of ['conflict', 'unreadable'] as const)
      if (odd[what] > 0) troubles.push({ file: name, what, count: odd[what] });
    return { lines, without, again, known: { ...read.place, version } };
  }
}

/** What comes of several files at once, so that ten thousand small ones are not ten thousand pages. */
const newPage = () => ({
  lines: new Array<PlacedLine>(),
  events: 0,
  gone: new Array<string>(),
  marks: new Map<string, string | undefined>(),
  without: 0,
});

interface FilePlace extends LogPlace {
  version: string;
}

const placeText = ({ file, offset, version }: FilePlace): string => `${file} ${offset} ${version}`;

function placeIn(text: string | undefined): FilePlace | undefined {
  const [file = '', offset = '', ...version] = text?.split(' ') ?? [];
  if (!/^\d+$/.test(file) || !/^\d+$/.test(offset)) return undefined;
  return { file: BigInt(file), offset: Number(offset), version: version.join(' ') };
}
